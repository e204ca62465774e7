import { largestOf } from '@notebridge/kit/long-lists';
import type { SaveParams } from './save-params.js';

/** The SKILL.md: what a model reads of the skill, in the form that other programs for skills read too. */
export function writeDocument({ name, description, code, tags, parameters }: Omit<SaveParams, 'tests' | 'overwrite'>): string {
  // A JSON text is one of YAML.
  const head = [
    '---',
    `name: ${JSON.stringify(name)}`,
    `description: ${JSON.stringify(description)}`,
    ...(tags.length === 0 ? [] : ['metadata:', `  tags: ${JSON.stringify(tags.join(', '))}`]),
    '---',
  ];
  const call = `from generated.skills import run_skill\ndone = await run_skill(${JSON.stringify(name)}, kwargs={…})\ndone["result"]`;
  const about = 'The `kwargs` are variables of its code, and the value of its last expression is its `result`.';
  const given = parameters === undefined ? [] : ['## Parameters', fenced(JSON.stringify(parameters, null, 2), 'json')];
  const parts = [head.join('\n'), `# ${name}`, description, fenced(call, 'python'), about, ...given, '## Code', fenced(code, 'python')];
  return `${parts.join('\n\n')}\n`;
}

/** With a fence that is longer than any inside. */
function fenced(text: string, language: string): string {
  const longest = largestOf(
    (text.match(/`{3,}/g) ?? []).map(({ length }) => length),
    2,
  );
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
