// @module-tag deep
// @module-tag P-239

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { everydayCells, everydayFiles } from '../../../notebook/test/support/everyday-cells.js';
import { Program } from '../support/program.js';

/** Making the environment takes minutes where it is not there yet. */
const environmentMs = 900_000;
const packages = ['ipykernel', 'jupyter_client', 'numpy', 'pandas', 'matplotlib', 'scikit-learn', 'ipywidgets'];

let folder = '';
let program: Program;
beforeAll(async () => {
  const python = await pythonWith(packages);
  folder = mkdtempSync(join(tmpdir(), 'notebridge-cells-'));
  mkdirSync(join(folder, 'everyday'));
  for (const [name, text] of Object.entries(everydayFiles)) writeFileSync(join(folder, 'everyday', name), text);
  program = await Program.open({ args: ['--notebook', join(folder, 'everyday/work.ipynb'), '--kernel', python, '--files', 'rw'] });
}, environmentMs);
afterAll(async () => {
  await program?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('everyday cells, run by an agent in a Python of the person', { timeout: 240_000 }, () => {
  it.each(everydayCells)('a cell works as in Jupyter: $name', async ({ code, status = 'ok', text, error, type }) => {
    const answer = await run(code);
    expect(answer, JSON.stringify(answer).slice(0, 2000)).toMatchObject({ status });
    const shown = textOf(answer.outputs);
    if (text !== undefined) expect(shown).toMatch(text);
    if (error !== undefined) expect(answer.outputs).toContainEqual(expect.objectContaining({ output_type: 'error', ename: error }));
    if (type !== undefined) expect(answer.outputs.flatMap(({ data }) => Object.keys((data ?? {}) as JsonObject))).toContain(type);
    // Colours are for people.
    expect(JSON.stringify(answer.outputs.filter(({ output_type }) => output_type === 'error'))).not.toContain('\\u001b');
    expect(answer.length).toBeLessThan(200_000);
  });

  it('an endless loop is interrupted, and the variables are still there', async () => {
    const id = 'endless';
    const stopped = program.request(
      'tools/call',
      { name: 'run_code', arguments: { code: 'print("on")\nwhile True: pass' }, _meta: { progressToken: id } },
      id,
    );
    await program.until(() => program.notifications.some(({ params }) => (params as JsonObject)?.progressToken === id), 60_000);
    await program.callTool('interrupt_execution');
    expect(JSON.stringify(await stopped)).toContain('KeyboardInterrupt');
    expect(await run('twice(5)')).toMatchObject({ status: 'ok', outputs: [{ data: { 'text/plain': ['10'] } }] });
  });

  it('a restart forgets them, and the files stay', async () => {
    await program.callTool('restart_kernel');
    expect((await run('twice')).outputs.at(-1)).toMatchObject({ ename: 'NameError' });
    expect(textOf((await run('from mine import twice\ntwice(5)')).outputs)).toBe('10');
  });
});

interface Ran {
  status: string;
  outputs: JsonObject[];
  /** Characters of the whole answer, but of its images. */
  length: number;
}

async function run(code: string): Promise<Ran> {
  const { result } = await program.callTool('run_code', { code });
  const [block] = (result as { content: { text?: string }[] }).content;
  const text = block?.text ?? '';
  return { outputs: [], ...(JSON.parse(text) as { status: string; outputs?: JsonObject[] }), length: text.length };
}

/** What a person reads, one output below the other. */
function textOf(outputs: readonly JsonObject[]): string {
  return outputs
    .map(({ text, data, traceback }) => {
      const plain = (data as JsonObject | undefined)?.['text/plain'];
      return [text, plain, traceback]
        .map((part) => (Array.isArray(part) ? part.join(part === traceback ? '\n' : '') : (part ?? '')))
        .join('');
    })
    .map((part) => part.replace(/\n$/, ''))
    .filter((part) => part !== '')
    .join('\n');
}
