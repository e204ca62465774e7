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

  it('releases a secret that has ended, and no other', () => {
    const redactor = new Redactor();
    for (const secret of ['token-1234', 'token-5678']) redactor.add(secret);
    redactor.delete('token-1234');
    redactor.delete('token-none');
    expect(redactor.redact('token-1234 token-5678')).toBe('token-1234 [redacted]');
  });

  it('takes no short text for a secret', () => {
    const redactor = new Redactor();
    for (const text of ['', 'a', '1234567']) redactor.add(text);
    expect(redactor.redact('a 1234567')).toBe('a 1234567');
  });
});
