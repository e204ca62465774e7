// @module-tag P-643

import { parseJson } from '@notebridge/protocol/exact-json';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { describe, expect, it } from 'vitest';
import { redactMessage } from './redact-message.js';

const secret = 'p/ss+wörd?42 "é"';
const redactor = new Redactor();
redactor.replace('it', [{ name: 'DB_PASSWORD', value: secret }]);
const bytesOf = (text: string): Buffer => Buffer.from(text);
const wrapped = (text: string, lineBreak: string): string => text.replaceAll(/.{20}/g, `$&${lineBreak}`);

/** All that a reader would try. */
function readings(text: string): string[] {
  const packed = text.replaceAll(/\s|\\r|\\n|[",]/g, '');
  const runs = packed.match(/[\w+/-]{8,}={0,2}/g) ?? [];
  const decoded = runs.flatMap((run) => [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64')).concat(Buffer.from(run, 'hex')));
  return [text, ...decoded.flatMap((bytes) => [bytes.toString('utf8'), bytes.toString('latin1')])];
}

it.each<[string, (text: string) => string]>([
  ['as it stands', (text) => text],
  ['in Base64', (text) => bytesOf(text).toString('base64')],
  ['in Base64 of URLs', (text) => bytesOf(text).toString('base64url')],
  ['in Base64 behind one letter', (text) => bytesOf(`a${text}b`).toString('base64')],
  ['in Base64 behind two letters', (text) => bytesOf(`ab${text}`).toString('base64')],
  ['in Base64 on lines', (text) => wrapped(bytesOf(`some words before ${text} and behind it`).toString('base64'), '\r\n')],
  ['in Base64 on lines in JSON', (text) => JSON.stringify(wrapped(bytesOf(`some words before ${text}`).toString('base64'), '\n'))],
  ['in a data URL', (text) => `data:text/plain;base64,${bytesOf(text).toString('base64')}`],
  ['for Basic', (text) => `Basic ${bytesOf(`user:${text}`).toString('base64')}`],
  ['in hex', (text) => bytesOf(text).toString('hex')],
  ['in hex within more', (text) => `00ff${bytesOf(text).toString('hex').toUpperCase()}00`],
  ['in a URL', (text) => `?q=${encodeURIComponent(text)}`],
  ['in JSON in JSON', (text) => JSON.stringify(JSON.stringify({ text }))],
  [
    'by the numbers of its characters',
    (text) => Array.from(text, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  ],
])('holds no known secret %s', (_, spell) => {
  const said = { content: [{ type: 'text', text: `it is ${spell(secret)} here` }], [spell(secret)]: 1 };
  const text = JSON.stringify(redactMessage(said, redactor));
  for (const value of [text, JSON.stringify(JSON.parse(text).content[0].text)]) {
    for (const reading of readings(value)) expect(reading).not.toContain('wörd?42');
    expect(value).not.toMatch(/w\\*u00f6rd|w%C3%B6rd/i);
  }
});

/** As `xxd` does. */
function dump(text: string, withLetters = true): string {
  const lines =
    bytesOf(text)
      .toString('latin1')
      .match(/[^]{1,16}/g) ?? [];
  const row = (line: string, at: number): string => {
    const hex = Buffer.from(line, 'latin1').toString('hex').replaceAll(/.{4}/g, '$& ').padEnd(40);
    return `${(at * 16).toString(16).padStart(8, '0')}: ${hex}${withLetters ? ` ${line.replaceAll(/[^ -~]/g, '.')}` : ''}`;
  };
  return lines.map(row).join('\n');
}

const spelled = {
  plain: 'correct horse battery staple',
  short: 'p/ss+wörd?42 "é"',
  lines: '-----KEY-----\nMIIEvQ+IBADAN\nBgkq/hkiG9w0B\n-----END-----\n',
};
const everywhere = new Redactor();
everywhere.replace(
  'it',
  Object.entries(spelled).map(([name, value]) => ({ name, value })),
);
const inBase64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');
const cut = (text: string, length: number, lineBreak: string): string => text.replaceAll(new RegExp(`.{${length}}`, 'g'), `$&${lineBreak}`);

describe.each(Object.entries(spelled))('a secret (%s) is nowhere', (_, known) => {
  it.each<[string, (text: string) => string]>([
    ['as a form writes it', (text) => new URLSearchParams({ q: text, x: '1' }).toString()],
    ['on lines with other ends', (text) => text.replaceAll('\n', '\r\n').replaceAll(' ', '\n')],
    ['as JSON with other line ends', (text) => JSON.stringify(JSON.stringify(text.replaceAll('\n', '\r\n')))],
    ['in Base64 on indented lines', (text) => cut(inBase64(`{"before": 1, "it": ${text}`), 20, '\n    ')],
    ['in Base64 on short lines', (text) => cut(inBase64(text), 4, '\r\n')],
    ['in Base64 as code writes it', (text) => `"${cut(inBase64(text), 16, '",\n  "')}"`],
    ['in Base64 in a URL', (text) => encodeURIComponent(inBase64(text))],
    ['in Base64 of JSON', (text) => inBase64(JSON.stringify({ a: [JSON.stringify(text)] }))],
    [
      'in Base64 of JSON by numbers',
      (text) => inBase64(text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)),
    ],
    ['in Base64 of a URL', (text) => Buffer.from(encodeURIComponent(text)).toString('base64url')],
    ['in Base64 of UTF-16', (text) => inBase64(Buffer.from(`a${text}`, 'utf16le'))],
    ['in Base64 of the other UTF-16', (text) => inBase64(Buffer.from(text, 'utf16le').swap16())],
    ['in hex of JSON', (text) => bytesOf(JSON.stringify({ text })).toString('hex')],
    ['in hex of UTF-16', (text) => Buffer.from(text, 'utf16le').toString('hex')],
    ['in hex with colons', (text) => cut(bytesOf(text).toString('hex'), 2, ':')],
    ['in hex as code writes it', (text) => cut(bytesOf(text).toString('hex'), 2, ', ').replaceAll(/[\da-f]{2}/g, '0x$&')],
    ['in escaped hex', (text) => bytesOf(text).toString('hex').replaceAll(/../g, '\\x$&')],
    ['in hex on lines', (text) => cut(bytesOf(text).toString('hex'), 30, '\n')],
    ['in a hex dump', (text) => dump(`some more, then ${text}`)],
    [
      'in a hex dump as hexdump writes it',
      (text) =>
        `\n${dump(`more ${text}`).replaceAll(/: (.{40}) (.*)/g, (_line, hex: string, said: string) => `  ${hex.replaceAll(/([^ ]{2})(?=[^ ])/g, '$1 ')}|${said}|`)}`,
    ],
    ['in a hex dump without letters', (text) => dump(`more ${text}`, false)],
  ])('%s', (_how, spell) => {
    const said = { text: `see ${spell(known)}\nand go on`, list: [spell(known)] };
    const redacted = redactMessage(said, everywhere) as typeof said;
    const mark = /\[redacted: |5b72656461637465643a20/;
    for (const text of [redacted.text, ...redacted.list]) expect(readings(text).some((reading) => mark.test(reading))).toBe(true);
    // What is left is what stood around it.
    for (const text of [redacted.text, ...redacted.list]) expect(text.length).toBeLessThan(spell(known).length / 2 + 120);
    for (const reading of readings(JSON.stringify(redacted))) expect(reading).not.toMatch(/battery|wörd|IBADAN/);
  });
});

it('is in no blob in UTF-16, with or without a mark of byte order', () => {
  for (const text of Object.values(spelled)) {
    for (const bytes of [Buffer.from(`a ${text}`, 'utf16le'), Buffer.from(`\ufeff${text}`, 'utf16le').swap16()]) {
      const { blob } = redactMessage({ blob: bytes.toString('base64') }, everywhere) as { blob: string };
      const read = Buffer.from(blob, 'base64');
      expect(read.includes(Buffer.from('[redacted: '))).toBe(true);
      expect(read.length).toBeLessThan(40);
    }
  }
});

it('is no number, however that is written', () => {
  const digits = new Redactor();
  digits.replace('it', [{ name: 'PIN_KEY', value: '918273645546' }]);
  const said = parseJson(
    '{"a":918273645546,"b":918273645546.0,"c":[9.18273645546e11],"d":9.18273645546E+11,"e":-918273645546,"n":918273645547,"f":1.5}',
  );
  const mark = expect.stringContaining('[redacted: PIN_KEY]');
  expect(redactMessage(said, digits)).toEqual({ a: mark, b: mark, c: [mark], d: mark, e: mark, n: 918273645547, f: 1.5 });
});

it('leaves what is encoded beside the secret as it was', () => {
  const text = inBase64(`user:${spelled.plain}; and all of the rest`);
  const read = Buffer.from(redactMessage(text, everywhere) as string, 'base64').toString();
  expect(read).toMatch(/^user:\[redacted: plain[^\]]*\] {0,2}; and all of the rest$/);
  const harmless = { a: inBase64('nothing to see'), b: dump('nothing to see here, go on'), c: 'a+b  c%20d', d: 'deadbeefdeadbeef' };
  expect(redactMessage(harmless, everywhere)).toEqual(harmless);
});

it('leaves Base64 that a reader can read, also of bytes that are no text', () => {
  const blobs = [`DB_PASSWORD=${secret}\nHOST=db`, 'aws_secret_access_key = abcd1234\nregion = eu'].map((text) =>
    bytesOf(text).toString('base64'),
  );
  const binary = Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0x80]), Buffer.from('k3y-of-many'), Buffer.from([0xfd])]);
  redactor.replace('other', [{ name: 'API_KEY', value: 'k3y-of-many' }]);
  const said = { contents: [...blobs, binary.toString('base64')].map((blob) => ({ uri: 'file:///.env', blob })) };
  const { contents } = redactMessage(said, redactor) as { contents: { blob: string }[] };
  const read = contents.map(({ blob }) => Buffer.from(blob, 'base64').toString('latin1'));
  expect(read[0]).toMatch(/^DB_PASSWORD=\[redacted[^\]]*\]\nHOST=db$/);
  expect(read[1]).toBe('aws_secret_access_key = [redacted]\nregion = eu');
  expect(read[2]).toBe('\u00ff\u00fe\u0000\u0080[redacted: API_KEY]\u00fd');
  const picture = { type: 'image', data: Buffer.from(binary).fill(7, 4, 8).toString('base64'), mimeType: 'image/png' };
  expect(redactMessage(picture, redactor)).toEqual(picture);
});

it('holds no value of a name of a secret: texts, numbers and lists, and keeps what a schema says of one', () => {
  const said = {
    db_password: 'one',
    aws_secret_access_key: 'two',
    pass: 1234,
    passwords: ['three', { value: 'four' }],
    apiKey: 5,
    progressToken: 'six',
    env: [
      { name: 'DB_PASSWORD', value: 'seven' },
      { name: 'MODE', value: 'eight' },
    ],
    properties: { password: { type: 'string', description: 'of the database' } },
  };
  expect(redactMessage(said, redactor)).toEqual({
    db_password: '[redacted]',
    aws_secret_access_key: '[redacted]',
    pass: '[redacted]',
    passwords: ['[redacted]', { value: 'four' }],
    apiKey: 5,
    progressToken: 'six',
    env: [
      { name: 'DB_PASSWORD', value: '[redacted]' },
      { name: 'MODE', value: 'eight' },
    ],
    properties: { password: { type: 'string', description: 'of the database' } },
  });
});

it('loses no member whose name has become that of another', () => {
  const said = { 'k3y-of-many': 1, '[redacted: API_KEY]': 2, __proto__x: 3 };
  expect(redactMessage(said, redactor)).toEqual({ '[redacted: API_KEY]': 1, '[redacted: API_KEY] (2)': 2, __proto__x: 3 });
});
