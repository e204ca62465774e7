// @module-tag P-021

import { describe, expect, it } from 'vitest';
import { expandStrings } from './expand.js';

const env = { NAME: 'value', EMPTY: '' };
const expand = (text: string): string => {
  const { value, problems } = expandStrings(text, env);
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.found).join('; '));
  return value;
};

describe('expandStrings', () => {
  it.each([
    ['plain', 'plain'],
    ['${NAME}', 'value'],
    ['a-${NAME}-${env:NAME}-b', 'a-value-value-b'],
    ['${NONE:-fallback}', 'fallback'],
    ['${NONE:-}', ''],
    ['${env:NONE:-x y}', 'x y'],
    ['${EMPTY:-fallback}', 'fallback'],
    ['[${EMPTY}]', '[]'],
    ['$${NAME}', '${NAME}'],
    ['$NAME costs $5', '$NAME costs $5'],
    ['${NAME:-${OTHER}', 'value'],
  ])('turns %s into %s', (text, expected) => {
    expect(expand(text)).toBe(expected);
  });

  it('does not expand what a variable holds', () => {
    expect(expandStrings('${A}', { A: '${B}', B: 'secret' }).value).toBe('${B}');
  });

  it('walks lists and objects, and leaves keys and other values alone', () => {
    const { value, problems } = expandStrings({ '${NAME}': ['${NAME}', 1, true, null, { deep: '${NAME}' }] }, env);
    expect(value).toEqual({ '${NAME}': ['value', 1, true, null, { deep: 'value' }] });
    expect(problems).toEqual([]);
  });

  it('names a missing variable, its place and both ways out', { tags: ['P-022'] }, () => {
    expect(expandStrings({ list: ['x ${NONE}'] }, env).problems).toEqual([
      {
        path: ['list', 0],
        at: 'value',
        found: 'needs the environment variable "NONE", which is not set',
        next: 'Set it, or write "${NONE:-default}".',
      },
    ]);
  });

  it.each(['${input:token}', '${}', '${1A}', '${A B}', 'open ${NAME', '${a\nb}'])('reports %j as no variable, in one line', (text) => {
    const { value, problems } = expandStrings(text, env);
    expect(value).toBe(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.found).toContain('names no variable');
    expect(problems[0]?.found).not.toContain('\n');
  });

  it('quotes only what looks like a name', () => {
    expect(expandStrings('${input:token}', env).problems[0]?.found).toBe('has "${input:token}", which names no variable');
    expect(expandStrings('pass${word!', env).problems[0]?.found).toBe('has a "${", which names no variable');
  });
});
