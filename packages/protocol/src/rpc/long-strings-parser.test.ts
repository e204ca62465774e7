import { describe, expect, it } from 'vitest';
import { roundsOf } from '../../../notebridge/test/support/core-and-deep.js';
import { parseMessage } from '../core/wire.js';
import { parseWithLongStrings } from './long-strings-parser.js';
import { type LongString, longStringOf } from './unread-members.js';

/** The same numbers in each run: what fails once fails again. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const pieces = ['plain ', '\\n', '\\"', '\\\\', '\\/', '\\u00e9', '\\ud83d\\ude00', '\\udc00', 'é', '€', '😀', '\u007f', '{"', "'", ','];
const faults = ['\n', '\u0000', '\t', '\\x', '\\u12g4', '\\u00"', '\\', '"'];

type Random = ReturnType<typeof createRandom>;

/** A string token, printed as peers print it. Sometimes one that is no JSON. */
function printToken(random: Random, length: number, faultOneIn: number): string {
  let body = '';
  while (body.length < length) body += (pieces[random(pieces.length)] as string).repeat(1 + random(40));
  if (random(faultOneIn) !== 0) return `"${body}"`;
  const at = random(body.length);
  return `"${body.slice(0, at)}${faults[random(faults.length)]}${body.slice(at)}"`;
}

function printValue(random: Random, depth: number, faultOneIn: number): string {
  const space = ['', '', ' ', '\r\n\t'][random(4)] as string;
  const kind = random(depth > 3 ? 5 : 8);
  if (kind === 0) return ['1', '1.0', '12345678901234567890', '-0', '1e5', 'true', 'null'][random(7)] as string;
  if (kind < 3) return printToken(random, random(50), faultOneIn * 20);
  // Around the length from which a token is long.
  if (kind < 5) return printToken(random, 60_000 + random(10_000), faultOneIn);
  const items = Array.from({ length: 1 + random(4) }, () => printValue(random, depth + 1, faultOneIn));
  if (kind === 5) return `[${space}${items.join(`${space},`)}${space}]`;
  const keys = ['"text"', '"data"', '"__proto__"', '"text"', printToken(random, 5, 1e9), printToken(random, 66_000, 1e9)];
  return `{${items.map((item) => `${space}${keys[random(keys.length)]}${space}:${space}${item}`).join(',')}}`;
}

function outcomeOf(parse: () => unknown): { value: unknown } | { message: string } {
  try {
    return { value: parse() };
  } catch (error) {
    return { message: (error as Error).message };
  }
}

function parseBoth(line: Buffer): unknown {
  return parseWithLongStrings(line) ?? parseMessage(line.toString('utf8').trim());
}

const long = 'x'.repeat(300_000);

describe('parseWithLongStrings', () => {
  it('parses what the usual parser parses, into the same, and refuses what that refuses', () => {
    const random = createRandom(7);
    let found = 0;
    for (let round = 0; round < roundsOf(150); round++) {
      const text = `{"first":"${'y'.repeat(random(2) * 300_000)}","value":${printValue(random, 0, 6)},"id":${round}}${random(2) ? '\r' : ''}`;
      const line = Buffer.from(text);
      // Cut and spoiled now and then.
      if (round % 10 === 0) line[random(line.length)] = 0xff;
      const cut = round % 10 === 1 ? line.subarray(0, random(line.length)) : line;
      const shifted = Buffer.concat([Buffer.alloc(round % 4), cut]).subarray(round % 4);
      if (parseWithLongStrings(shifted) !== undefined) found++;
      expect(outcomeOf(() => parseBoth(shifted))).toEqual(outcomeOf(() => parseMessage(cut.toString('utf8').trim())));
    }
    expect(found).toBeGreaterThan(roundsOf(18));
  });

  it('keeps the token of a member, and decodes what stands in a list or alone', () => {
    const line = Buffer.from(JSON.stringify({ result: { content: [{ type: 'text', text: long }] }, list: [long, 'short'] }));
    const { result, list } = parseWithLongStrings(line) as { result: { content: [{ text: string }] }; list: string[] };
    const [block] = result.content;
    expect((longStringOf(block, 'text') as LongString).token.toString()).toBe(JSON.stringify(long));
    expect(block.text).toBe(long);
    expect(list).toEqual([long, 'short']);
    expect(parseWithLongStrings(Buffer.from(JSON.stringify(long)))).toBe(long);
  });

  it('keeps numbers exactly, beside long strings too', () => {
    const value = parseWithLongStrings(Buffer.from(`{"n":1.0,"text":"${long}"}`)) as { n: unknown };
    expect(String(value.n)).toBe('1.0');
  });

  it.each([
    ['short lines', '{"text":"short"}'],
    ['lines without a long string', JSON.stringify(Array.from({ length: 5000 }, () => 'y'.repeat(80)))],
    ['lines with many strings besides', JSON.stringify({ many: Array.from({ length: 5000 }, () => 'y'), long })],
    ['lines with much besides', `{"numbers":[${'1,'.repeat(600_000)}1],"text":"${long}"}`],
    ['a long key', JSON.stringify({ [long]: 1 })],
    ['a string without an end', `{"text":"${long}`],
    ['a control character', `{"text":"${long}\u0001"}`],
    ['a fault elsewhere', `{"text":"${long}",}`],
  ])('leaves %s to the usual parser', { tags: ['deep'] }, (_, text) => expect(parseWithLongStrings(Buffer.from(text))).toBeUndefined());

  it('leaves bytes that are no UTF-8 to the usual parser', () => {
    const line = Buffer.from(`{"text":"${long}"}`);
    line[1000] = 0xc3;
    expect(parseWithLongStrings(line)).toBeUndefined();
  });

  it('finds long strings however deeply they are nested', { tags: ['deep'] }, () => {
    const depth = 50_000;
    const lists = Buffer.from(`${'['.repeat(depth)}{"text":"${long}"}${']'.repeat(depth)}`);
    let item = parseWithLongStrings(lists);
    while (Array.isArray(item)) item = item[0];
    expect(item).toEqual({ text: long });
  });
});
