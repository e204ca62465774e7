import { legacyVersions } from '@notebridge/protocol/core/protocol-versions';
import { describe, expect, it } from 'vitest';
import { isLevelWanted, parseLogLevel, toInitializeResult } from './legacy-era.js';

const identity = { serverInfo: { name: 'n', version: '1' }, instructions: undefined };

describe('toInitializeResult', () => {
  it.each(legacyVersions)('agrees on %s', (protocolVersion) => {
    expect(toInitializeResult({ protocolVersion }, identity).protocolVersion).toBe(protocolVersion);
  });

  it.each(['2026-07-28', '', null, undefined, {}, 2025])('offers the newest to who asks for %j', (protocolVersion) => {
    expect(toInitializeResult({ protocolVersion }, identity).protocolVersion).toBe('2025-11-25');
  });

  it('has instructions only if there are some', () => {
    expect(toInitializeResult({}, identity)).not.toHaveProperty('instructions');
    expect(toInitializeResult({}, { ...identity, instructions: 'Do.' }).instructions).toBe('Do.');
  });
});

describe('isLevelWanted', () => {
  it.each([
    ['debug', 'debug', true],
    ['debug', 'info', false],
    ['notice', 'info', true],
    ['error', 'critical', false],
    ['emergency', 'emergency', true],
    ['of the future', 'emergency', true],
    [undefined, 'emergency', true],
    [{}, 'emergency', true],
  ])('a message of level %j is wanted at %s: %s', (level, wanted, expected) => {
    expect(isLevelWanted(level, wanted)).toBe(expected);
  });
});

describe('parseLogLevel', () => {
  it('takes the levels of the protocol', () => {
    expect(parseLogLevel('notice', 'level')).toBe('notice');
  });

  it.each([['warn'], [undefined], [null], [3], [['info']], ['__proto__']])('refuses %j, naming the key', (level) => {
    expect(() => parseLogLevel(level, 'the.key')).toThrow('"the.key" must be one of debug, info, notice');
  });
});
