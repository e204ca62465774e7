import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it } from 'vitest';
import { Program } from '../support/program.js';

type Call = (name: string, args: JsonObject) => Promise<JsonObject>;

interface Tasks {
  cellsOfTasks(cell: (id: string, source: string) => object): object[];
  notebridgeAgent(call: Call): object;
  /** Each task, with why it failed if it did. */
  measureTasks(client: { call: Call }, agent: (call: Call) => object): Promise<{ [task: string]: { failed?: string } }>;
}

it('ten everyday tasks of an agent meet no refusal', { timeout: 120_000, tags: ['P-633'] }, async () => {
  const { cellsOfTasks, measureTasks, notebridgeAgent } = (await import('../../../../bench/lib/jupyterlab-tasks.mjs' as string)) as Tasks;
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-everyday-'));
  const file = join(folder, 'work.ipynb');
  const cells = cellsOfTasks((id, source) => ({ cell_type: 'code', id, source, metadata: {}, outputs: [], execution_count: null }));
  writeFileSync(file, JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }));
  try {
    await using program = await Program.open({ args: ['--notebook', file] });
    const refused: unknown[] = [];
    const call: Call = async (name, args) => {
      const { result } = (await program.callTool(name, args)) as { result: JsonObject };
      if (result.isError === true) refused.push([name, args, result]);
      return result;
    };
    const found = await measureTasks({ call }, notebridgeAgent);
    expect(refused).toEqual([]);
    expect(Object.keys(found)).toHaveLength(10);
    expect(Object.entries(found).filter(([, { failed }]) => failed !== undefined)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
