import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/nested-vitest.js';

interface Promised {
  id: string;
  text: string;
  /** Files of tests, each with parts of the names of its tests; none stands for the whole file. */
  tests: { file: string; names: string[] }[];
}

const entry = /^- \*\*(P-\d{3})\*\* (.+)$/;
const reference = /`([^`]+)`((?:,? "(?:\\"|[^"])+")*)/y;
const packages = join(root, 'packages');

/** Throws, naming the line, for an entry that cannot be read. */
function parsePromises(page: string): Promised[] {
  const lines = page.split('\n').filter((line) => line.startsWith('- '));
  return lines.map((line) => {
    const [, id, rest] = entry.exec(line) ?? [];
    if (id === undefined || rest === undefined) throw new Error(`Not of the form "- **P-000** sentence — \`file\` "name"": ${line}`);
    const end = rest.lastIndexOf(' — ');
    if (end < 0) return { id, text: rest, tests: [] };
    return { id, text: rest.slice(0, end), tests: parseTests(id, rest.slice(end + 3)) };
  });
}

function parseTests(id: string, text: string): Promised['tests'] {
  const tests = [];
  for (let at = 0; at < text.length; at = reference.lastIndex + 2) {
    reference.lastIndex = at;
    const [whole, file = '', names = ''] = reference.exec(text) ?? [];
    if (whole === undefined) throw new Error(`${id}: tests are written \`file\` "name", "name", \`file\`; found: ${text.slice(at)}`);
    tests.push({ file, names: [...names.matchAll(/"((?:\\"|[^"])+)"/g)].map(([, name = '']) => name.replaceAll('\\"', '"')) });
  }
  return tests;
}

/** What is wrong with the page: one line each. */
function faultsOf(page: string): string[] {
  const promises = parsePromises(page);
  const numbers = promises.map(({ id }) => Number(id.slice(2)));
  const missing = Array.from({ length: Math.max(0, ...numbers) }, (_, index) => index + 1).filter((number) => !numbers.includes(number));
  return [
    ...promises
      .filter(({ id }, index) => promises.findIndex((other) => other.id === id) < index)
      .map(({ id }) => `${id} stands there twice`),
    ...missing.map((number) => `P-${String(number).padStart(3, '0')} is missing: keep a number as "(withdrawn)"`),
    ...promises.filter(({ text, tests }) => tests.length === 0 && !text.startsWith('(withdrawn)')).map(({ id }) => `${id} has no test`),
    ...promises.flatMap(({ id, tests }) => tests.flatMap(({ file, names }) => faultsOfTest(file, names).map((fault) => `${id}: ${fault}`))),
  ];
}

function faultsOfTest(file: string, names: string[]): string[] {
  const path = join(packages, file);
  if (!/\/(src|test)\/.*\.(test|types)\.ts$/.test(path) || !existsSync(path)) return [`there is no test file packages/${file}`];
  const source = readFileSync(path, 'utf8');
  // What must not compile is held by the type check of `npm run check`.
  if (path.endsWith('.types.ts') && source.includes('@ts-expect-error')) return [];
  const titles = titlesIn(source);
  if (titles.length === 0) return [`packages/${file} has no tests`];
  return names.filter((name) => !titles.some((title) => title.includes(name))).map((name) => `packages/${file} has no test "${name}"`);
}

/** The names that stand in the calls of `it`, `test` and `describe`, after whatever they are chained with. */
function titlesIn(source: string): string[] {
  const calls = source.matchAll(/(?:\b(?:it|test|describe)\b(?:\.\w+)*|\))\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g);
  return [...calls].map(([, , title = '']) => title.replaceAll(/\\(['"`])/g, '$1'));
}

describe('docs/promises.md', () => {
  it('has a test for each promise, and each number once', () => {
    const page = readFileSync(join(root, 'docs/promises.md'), 'utf8');
    expect(faultsOf(page)).toEqual([]);
    expect(parsePromises(page).length).toBeGreaterThan(100);
  });

  it('is found at fault where it is', () => {
    const there = '`notebridge/test/repo/promises.test.ts`';
    const page = [
      `- **P-001** Good — ${there} "is found at fault", "has a test for each promise", ${there}`,
      '- **P-002** Without a test',
      `- **P-002** Twice — ${there}`,
      '- **P-004** (withdrawn) in 0.2',
      '- **P-005** Its file is gone — `notebridge/test/repo/gone.test.ts`',
      `- **P-006** Its test is gone — ${there} "is no test of this file"`,
      '- **P-007** Its file has no tests — `notebridge/test/contracts/memory-provider.test.ts`',
      '- **P-008** Its file is run by others only — `notebook/test/kernel/interrupt-behaviour.ts`',
    ];
    expect(faultsOf(page.join('\n'))).toEqual([
      'P-002 stands there twice',
      'P-003 is missing: keep a number as "(withdrawn)"',
      'P-002 has no test',
      'P-005: there is no test file packages/notebridge/test/repo/gone.test.ts',
      'P-006: packages/notebridge/test/repo/promises.test.ts has no test "is no test of this file"',
      'P-007: packages/notebridge/test/contracts/memory-provider.test.ts has no tests',
      'P-008: there is no test file packages/notebook/test/kernel/interrupt-behaviour.ts',
    ]);
  });

  it.each(['- P-001 not in bold — `a`', '- **P-001** sentence — not in quotes', '- **P-001** sentence — `a` and `b`'])(
    '%s is refused',
    (line) => {
      expect(() => faultsOf(line)).toThrow(/P-001/);
    },
  );
});
