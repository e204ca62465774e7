// The list of what users and operators are promised.
import { readFileSync } from 'node:fs';

export const listOfRequirements = 'test/requirements.md';
const list = new URL(`../../${listOfRequirements}`, import.meta.url);

/** @typedef {{ id: string, text: string, isDeep: boolean }} Requirement */

/**
 * What is promised, without the numbers that were withdrawn. Throws, naming the line, for one that cannot be read.
 * @returns {Requirement[]}
 */
export function requirements(text = readFileSync(list, 'utf8')) {
  const lines = text.split('\n').filter((line) => line.startsWith('- '));
  return lines.map((line) => {
    const [, id, deep, sentence] = /^- \*\*(P-\d{3})\*\* (\(deep\) )?(\S.*)$/.exec(line) ?? [];
    if (id === undefined || sentence === undefined)
      throw new Error(`${listOfRequirements}: not of the form "- **P-000** sentence": ${line}`);
    return { id, text: sentence, isDeep: deep !== undefined };
  });
}

/** The numbers that are no longer promised: each stands in the first column of the table at the end. */
export function withdrawn(text = readFileSync(list, 'utf8')) {
  return [...text.matchAll(/^\| (P-\d{3}) \|/gm)].map(([, id = '']) => id);
}

/**
 * Complaints about the list: a number without a test, one that is deep alone and does not say so, or says so and is not, one that tests
 * carry and nobody promises, one that stands twice or is missing.
 * @param {Requirement[]} promised
 * @param {string[]} gone
 * @param {Map<string, { core: number, deep: number }>} tests
 */
export function complaintsAbout(promised, gone, tests) {
  const numbers = [...promised.map(({ id }) => id), ...gone];
  const last = Math.max(0, ...numbers.map((id) => Number(id.slice(2))));
  const all = Array.from({ length: last }, (_, index) => `P-${String(index + 1).padStart(3, '0')}`);
  const none = { core: 0, deep: 0 };
  return [
    ...numbers.filter((id, index) => numbers.indexOf(id) < index).map((id) => `${id} stands in the list twice.`),
    ...all
      .filter((id) => !numbers.includes(id))
      .map((id) => `${id} is missing: a number that is no longer promised goes to the table at the end.`),
    ...promised.flatMap(({ id, isDeep }) => {
      const { core, deep } = tests.get(id) ?? none;
      if (core + deep === 0) return [`${id} has no test: give one the tag '${id}'.`];
      if (core === 0 && !isDeep) return [`${id} has deep tests alone: write "(deep)" behind its number, or better, a test of the core.`];
      return core > 0 && isDeep ? [`${id} has a test of the core: take "(deep)" out.`] : [];
    }),
    ...[...tests.keys()]
      .filter((id) => !promised.some((each) => each.id === id))
      .map((id) => `${id} is the tag of a test, and is not promised.`),
  ];
}
