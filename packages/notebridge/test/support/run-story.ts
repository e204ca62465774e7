import type { JsonObject } from '@notebridge/protocol/json';
import { expect } from 'vitest';
import type { Program } from './program.js';

export type CallTool = (name: string, args?: JsonObject) => Promise<JsonObject>;

/** Calls a tool of a notebook, whose one text is JSON. */
export function notebookOf(program: Program): CallTool {
  return async (name, args = {}) => {
    const answer = await program.callTool(name, args);
    const { content } = (answer.result ?? {}) as { content?: { text: string }[] };
    return content === undefined ? answer : (JSON.parse(content[0]?.text ?? 'null') as JsonObject);
  };
}

interface Run {
  run_id: string;
  status: string;
  cursor: string;
  outputs: { output_type: string; text?: string[]; ename?: string }[];
}

export async function addCell(call: CallTool, code: string): Promise<string> {
  const { newCellId } = await call('add_code_cell', { cellIndex: 0, language: 'python', code });
  return String(newCellId);
}

const textOf = ({ outputs }: Run): string => outputs.flatMap(({ text = [] }) => text).join('');

/** What agents do with a run that outlives its call, whatever kind of notebook it is in: the same words and the same shapes. */
export async function playRunStory(call: CallTool): Promise<void> {
  const cellId = await addCell(call, 'import time\nfor i in range(4):\n    print(i)\n    time.sleep(0.7)\n7');
  const running = (await call('run_code_cell', { cellId, wait_seconds: 0 })) as unknown as Run;
  expect(running).toMatchObject({ status: expect.stringMatching(/^(queued|running)$/), cellId, next: expect.stringContaining('get_run') });
  const { run_id } = running;
  const first = (await call('get_run', { run_id, wait_for: 'output', wait_seconds: 45 })) as unknown as Run;
  expect(first).toMatchObject({
    run_id,
    cellId,
    status: 'running',
    seconds: expect.any(Number),
    started_by: { kind: 'agent', name: 'test' },
  });
  expect(textOf(first)).toMatch(/^0\n/);
  const rest = (await call('get_run', { run_id, cursor: first.cursor, wait_seconds: 45 })) as unknown as Run;
  expect(rest).toMatchObject({ status: 'ok' });
  expect(textOf(first) + textOf(rest)).toBe('0\n1\n2\n3\n');
  expect(rest.outputs.at(-1)).toMatchObject({ output_type: 'execute_result', data: { 'text/plain': ['7'] } });
  expect(((await call('get_run', { run_id, cursor: rest.cursor })) as unknown as Run).outputs).toEqual([]);

  const long = await addCell(call, 'import time\nprint("on")\nfor i in range(100000):\n    time.sleep(0.01)');
  const endless = (await call('run_code_cell', { cellId: long, wait_seconds: 0 })) as unknown as Run;
  await call('get_run', { run_id: endless.run_id, wait_for: 'output', wait_seconds: 45 });
  expect(await call('interrupt_run', { run_id: endless.run_id })).toMatchObject({ run_id: endless.run_id, status: 'interrupted' });
  const ended = await call('get_run', { run_id: endless.run_id });
  expect(ended).toMatchObject({ outputs: [{ text: ['on\n'] }, { output_type: 'error', ename: 'KeyboardInterrupt' }] });

  const broken = await addCell(call, 'raise ValueError("no")');
  expect(await call('run_code_cell', { cellId: broken })).toMatchObject({ outputs: [{ ename: 'ValueError' }] });
  const { runs } = (await call('list_runs')) as unknown as { runs: Run[] };
  expect(runs.slice(0, 3).map(({ status }) => status)).toEqual(['error', 'interrupted', 'ok']);
  expect(runs[2]).toMatchObject({ run_id, cellId });

  expect(await call('get_run', { run_id: 'zzzz-1' })).toMatchObject({ error: { code: 'unknown_run' } });
  expect(await call('get_run', { run_id, cursor: 'x' })).toMatchObject({ error: { code: 'bad_arguments' } });
  expect(await call('run_code_cell', { cellId, wait_seconds: 4000 })).toMatchObject({
    error: { code: 'bad_arguments', message: expect.stringContaining('wait_seconds') },
  });
}
