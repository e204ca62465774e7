import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openBuiltInKind } from './built-in-kind.js';
import { openColabKind } from './colab-kind.js';
import { interleave, type Tally } from './interleave.js';
import { openLiveKind, openStoredKind } from './lab-kinds.js';

/** With how many runs the core has. */
const kinds = [
  { name: 'the built-in notebook', open: openBuiltInKind, few: 80 },
  { name: 'a shared JupyterLab', open: openLiveKind, few: 30 },
  { name: 'a plain JupyterLab', open: openStoredKind, few: 30 },
  { name: 'Colab', open: openColabKind, few: 80 },
];

/** A shared document keeps what was ever typed into it, and each edit costs more than the one before. */
const runsOfOne = 200;

/** The promise that these tests check, as people first read it, in the README. */
const sentence = 'no edit of yours is overwritten before the agent has read it';

describe.each(kinds)('$name', ({ open, few }) => {
  const play = async (from: number, count: number): Promise<Tally> => {
    const tally: Tally = { written: 0, refused: 0, removedKnowingly: 0, removedInWindow: 0 };
    for (let first = from; first < from + count; first += runsOfOne) {
      await using kind = await open();
      for (let seed = first; seed < Math.min(first + runsOfOne, from + count); seed++) await interleave(kind, seed, tally);
    }
    return tally;
  };

  it('keeps what a person typed until an agent has read it, in random interleavings of a person and two agents', {
    tags: ['P-634'],
    timeout: 120_000,
  }, async () => {
    const tally = await play(1, few);
    for (const count of [tally.written, tally.refused, tally.removedKnowingly]) expect(count).toBeGreaterThan(10);
  });

  it('the same in 10,000', { tags: ['deep', 'P-634'], timeout: 3_600_000 }, async () => {
    const tally = await play(1000, 10_000);
    for (const count of [tally.written, tally.refused, tally.removedKnowingly]) expect(count).toBeGreaterThan(1000);
  });
});

it('is what the README says', { tags: ['P-634'] }, () => {
  expect(readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8')).toContain(sentence);
});
