import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureOwnerToken } from './owner-token.js';
import { acceptTypedCodes, createTypedCode } from './typed-codes.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'typed-codes-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('codes that are typed', { tags: ['P-646'] }, () => {
  it('are good once, within 15 minutes, also by a clock that was set', () => {
    let now = 1_800_000_000_000;
    const codes = acceptTypedCodes(dir, () => now);
    const token = ensureOwnerToken(dir);
    const made = Array.from({ length: 5 }, () => createTypedCode(token, now)) as [string, string, string, string, string];
    expect(made[0]).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/);
    expect(new Set(made).size).toBe(5);
    expect([codes.redeem(made[0]), codes.redeem(made[0])]).toEqual(['good', 'used']);
    expect(codes.redeem(` ${made[1].toLowerCase().replace(/-/g, ' ').replace(/0/g, 'o').replace(/1/g, 'l')} `)).toBe('good');
    now += 15 * 60_000;
    expect(codes.redeem(made[2])).toBe('good');
    now += 60_000;
    expect(codes.redeem(made[3])).toBe('expired');
    now -= 86_400_000;
    expect([codes.redeem(made[0]), codes.redeem(made[4])]).toEqual(['used', 'expired']);
  });

  it('are unlike all others of their process in the same minute', () => {
    expect(new Set(Array.from({ length: 1000 }, () => createTypedCode('nbo_x', 1_800_000_000_000))).size).toBe(1000);
  });

  it('are good for their user alone, and not when a letter was changed', () => {
    const codes = acceptTypedCodes(dir);
    const code = createTypedCode(ensureOwnerToken(dir));
    expect(codes.redeem(createTypedCode('nbo_another'))).toBe('unknown');
    for (let at = 0; at < code.length; at++) {
      const letter = code[at] === '7' ? '8' : '7';
      if (code[at] !== '-') expect(codes.redeem(code.slice(0, at) + letter + code.slice(at + 1))).toBe('unknown');
    }
    for (const odd of ['', 'U'.repeat(16), `${code}A`, 'ééééééééé']) expect(codes.redeem(odd)).toBe('unknown');
    expect(codes.redeem(code)).toBe('good');
  });
});
