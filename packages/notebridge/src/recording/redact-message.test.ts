// @module-tag P-643

import { expect, it } from 'vitest';
import { Redactor } from '../util/redactor.js';
import { redactMessage } from './redact-message.js';

const secret = 'p/ss+wörd?42 "é"';
const redactor = new Redactor();
redactor.replace('it', [{ name: 'DB_PASSWORD', value: secret }]);
const bytesOf = (text: string): Buffer => Buffer.from(text);
const wrapped = (text: string, lineBreak: string): string => text.replaceAll(/.{20}/g, `$&${lineBreak}`);

/** All that a reader would try. */
function readings(text: string): string[] {
  const packed = text.replaceAll(/\r?\n|\\r|\\n/g, '');
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
    properties: { password: { type: 'string', description: 'of the database' } },
  };
  expect(redactMessage(said, redactor)).toEqual({
    db_password: '[redacted]',
    aws_secret_access_key: '[redacted]',
    pass: '[redacted]',
    passwords: ['[redacted]', { value: 'four' }],
    apiKey: 5,
    progressToken: 'six',
    properties: { password: { type: 'string', description: 'of the database' } },
  });
});

it('loses no member whose name has become that of another', () => {
  const said = { 'k3y-of-many': 1, '[redacted: API_KEY]': 2, __proto__x: 3 };
  expect(redactMessage(said, redactor)).toEqual({ '[redacted: API_KEY]': 1, '[redacted: API_KEY] (2)': 2, __proto__x: 3 });
});
