// @module-tag P-515

import { describe, expect, it } from 'vitest';
import { Redactor } from './redactor.js';

describe('Redactor', () => {
  it('hides each secret wherever it stands', () => {
    const redactor = new Redactor();
    redactor.add('token-1234');
    redactor.add('key$&+.*567');
    expect(redactor.redact('ws://x/?access_token=token-1234&y token-1234 "key$&+.*567"')).toBe(
      'ws://x/?access_token=[redacted]&y [redacted] "[redacted]"',
    );
  });

  it('leaves no tail of a secret that holds another, in whatever order they came', () => {
    for (const secrets of [
      ['abcdefgh', 'abcdefgh-tail'],
      ['abcdefgh-tail', 'abcdefgh'],
    ]) {
      const redactor = new Redactor();
      for (const secret of secrets) redactor.add(secret);
      expect(redactor.redact('abcdefgh-tail abcdefgh')).toBe('[redacted] [redacted]');
    }
  });

  it('hides a secret as JSON, JSON inside JSON and a URL spell it', () => {
    const redactor = new Redactor();
    const secret = 'say "friend" & enter\n';
    redactor.add(secret);
    const inJson = JSON.stringify({ key: secret });
    expect(redactor.redact(`${inJson} ${JSON.stringify(inJson)} ?key=${encodeURIComponent(secret)}`)).toBe(
      '{"key":"[redacted]"} "{\\"key\\":\\"[redacted]\\"}" ?key=[redacted]',
    );
    redactor.add('\ud800 alone in the dark');
    redactor.delete(secret);
    expect(redactor.redact(inJson)).toBe(inJson);
  });

  it.each<[string, (secret: string) => string]>([
    ['characters by their numbers', byNumber],
    ['those inside JSON', (secret) => JSON.stringify(`{"a":"${byNumber(secret).toUpperCase().replaceAll('U', 'u')}"}`)],
    ['slashes that are escaped', (secret) => JSON.stringify(secret).replaceAll('/', '\\/')],
    ['JSON four times', (secret) => [1, 2, 3, 4].reduce((text) => JSON.stringify(text), secret)],
    ['a URL in small letters', (secret) => encodeURIComponent(secret).replaceAll(/%../g, (byte) => byte.toLowerCase())],
    ['a URL in a URL', (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ['a form', (secret) => new URLSearchParams({ key: secret }).toString()],
  ])('hides a secret that is spelled as %s', (_, spell) => {
    const redactor = new Redactor();
    const secret = 'sk/Ab+cd=é"9%x z\\/😀 long enough';
    redactor.add(secret);
    expect(redactor.redact(spell(secret))).toMatch(/^[\\":{}a=]*(key=)?\[redacted\][\\":{}]*$/);
  });

  it('is not held up by texts that begin like odd spellings everywhere', () => {
    const redactor = new Redactor();
    for (let index = 0; index < 20; index++) redactor.add(`secret ${index} of many`);
    const startedAt = performance.now();
    for (const part of ['\\', '%25', '\\u0073', 'secret \\u']) redactor.redact(part.repeat(200_000));
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('leaves what is no secret as it was, and JSON readable', () => {
    const redactor = new Redactor();
    redactor.add('C:\\new\\table "x"\\');
    const text = JSON.stringify({ a: 'C:\\\\new\\table "x"\\', b: '100% \ud83d\ude00 \\u00', c: 'a+b%41' }).replace('table', 't\\u0061ble');
    const read = JSON.parse(redactor.redact(text)) as { a: string; b: string; c: string };
    expect(read.a).toContain('[redacted]');
    expect(read.a).not.toContain('able');
    expect([read.b, read.c]).toEqual(['100% \ud83d\ude00 \\u00', 'a+b%41']);
  });

  it('releases a secret that has ended, and no other', () => {
    const redactor = new Redactor();
    for (const secret of ['token-1234', 'token-5678']) redactor.add(secret);
    redactor.delete('token-1234');
    redactor.delete('token-none');
    expect(redactor.redact('token-1234 token-5678')).toBe('token-1234 [redacted]');
  });

  it('forgets what the config no longer has, but in what was kept while it had it', { tags: ['P-640'] }, () => {
    const redactor = new Redactor();
    redactor.replace('one', [
      { name: 'A_KEY', value: 'first-value-1' },
      { name: 'B_KEY', value: 'shared-value-2' },
    ]);
    redactor.replace('two', [{ name: 'C_KEY', value: 'shared-value-2' }]);
    redactor.replace('one', [{ name: 'A_KEY', value: 'newer-value-3' }]);
    const text = 'first-value-1 shared-value-2 newer-value-3';
    expect(redactor.redact(text)).toBe('first-value-1 [redacted: C_KEY] [redacted: A_KEY]');
    expect(redactor.past.redact(text)).toBe('[redacted: A_KEY] [redacted: C_KEY] [redacted: A_KEY]');
    redactor.replace('two', []);
    expect(redactor.redact(text)).toContain('shared-value-2');
    // It came back, and went for good after a thousand others.
    redactor.replace('one', [{ name: 'A_KEY', value: 'first-value-1' }]);
    for (let at = 0; at <= 1001; at++) redactor.replace('one', [{ name: 'N', value: `value-${at}-of-many` }]);
    expect(redactor.past.redact(text)).toBe(text);
  });

  it('never hides a word of ours, though a password is the same', { tags: ['P-640'] }, () => {
    const redactor = new Redactor();
    redactor.replace('it', [
      { name: 'DB_PASSWORD', value: 'arguments' },
      { name: 'API_KEY', value: 'k3y-of-many' },
    ]);
    expect(redactor.redactOurs('{"arguments":["k3y-of-many"]}')).toBe('{"arguments":["[redacted: API_KEY]"]}');
    expect(redactor.redactOurs('\\u0061rguments \\u006b3y-of-many')).toBe('\\u0061rguments [redacted: API_KEY]');
    expect(redactor.redact('the password is arguments')).toBe('the password is [redacted: DB_PASSWORD]');
  });

  it('takes no short text for a secret', () => {
    const redactor = new Redactor();
    for (const text of ['', 'a', '1234567']) redactor.add(text);
    expect(redactor.redact('a 1234567')).toBe('a 1234567');
  });
});

function byNumber(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
