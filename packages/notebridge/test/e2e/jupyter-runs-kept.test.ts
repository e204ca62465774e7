// @module-tag deep

import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { KernelChannel } from '../../../notebook/src/lab/kernel-channel.js';
import { findKernelSession } from '../../../notebook/src/lab/kernel-sessions.js';
import { codeCell, installTimeoutMs, TestLab } from '../../../notebook/test/lab/support/jupyter.js';
import { SharedHome, until } from '../support/broker.js';
import { callTool } from '../support/call-tool.js';
import { Program } from '../support/program.js';

const timeout = 180_000;
let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start();
}, installTimeoutMs);
afterAll(() => lab?.close());

/** Prints one line, and the next ones each when a file is there: `NAME-1`, `NAME-2`. */
const inSteps = (name: string): string => `
import pathlib, time
print("step 0", flush=True)
for step in (1, 2):
    while not pathlib.Path(f"${name}-{step}").exists(): time.sleep(0.05)
    print(f"step {step}", flush=True)`;
const goOn = (name: string, step: number) => writeFile(join(lab.folder, `${name}-${step}`), '');

interface Begun {
  home: SharedHome;
  agent: Program;
  runId: string;
  close: () => Promise<void>;
}

/** An agent whose cell runs in a notebook of the server. */
async function begin(name: string, code: string): Promise<Begun> {
  const home = new SharedHome();
  await lab.write(`${name}.ipynb`, [codeCell('one', code)]);
  const env = { ...home.env, JUPYTER_RUNTIME_DIR: lab.runtimeDir };
  const agent = await Program.open({ args: ['--notebook', `jupyter=${lab.url(`${name}.ipynb`)}`], env });
  const begun = await callTool(agent, 'run_code_cell', { cellId: 'one', wait_seconds: 0 });
  const runId = String(begun.run_id);
  await until(async () => JSON.stringify(await callTool(agent, 'get_run', { run_id: runId, wait_seconds: 1 })).includes('step 0'));
  const close = async (): Promise<void> => {
    await agent[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  };
  return { home, agent, runId, close };
}

const kill = (home: SharedHome) => process.kill(home.broker?.pid ?? 0, 'SIGKILL');
/** A call that was on its way when the broker was killed is answered as one whose outcome is unknown. */
const untilAnswered = (agent: Program) => until(async () => Array.isArray((await callTool(agent, 'list_runs')).runs));
/** What is left of runs on disk. */
const keptIn = (home: SharedHome) => readdirSync(join(home.stateDir, 'jupyter-runs')).filter((name) => name.endsWith('.json'));
/** The text of its outputs, all of which are printed. */
const printedIn = ({ outputs }: JsonObject): string => (outputs as { text: string[] }[]).map(({ text }) => text.join('')).join('');
const allSteps = 'step 0\nstep 1\nstep 2\n';

it('a run goes on under its id when the broker is killed: its output comes, it is followed to its end, and leaves no file', {
  timeout,
  tags: ['P-330'],
}, async () => {
  const { home, agent, runId, close } = await begin('steps', inSteps('steps'));
  try {
    kill(home);
    await untilAnswered(agent);
    expect(await callTool(agent, 'get_run', { run_id: runId, wait_seconds: 0 })).toMatchObject({
      run_id: runId,
      cellId: 'one',
      status: 'running',
    });
    await goOn('steps', 1);
    await until(async () => JSON.stringify(await callTool(agent, 'get_run', { run_id: runId, wait_seconds: 1 })).includes('step 1'));
    // Another run waits for it, and has an id of its own.
    const next = await callTool(agent, 'run_code', { code: 'print("next")', wait_seconds: 0 });
    expect(next).toMatchObject({ status: 'queued', run_id: expect.not.stringMatching(runId) });
    // Once more.
    kill(home);
    await untilAnswered(agent);
    await goOn('steps', 2);
    const ended = await callTool(agent, 'get_run', { run_id: runId, wait_seconds: 40 });
    expect(ended).toMatchObject({ run_id: runId, status: 'ok', execution_count: 1, started_by: { kind: 'agent' } });
    expect(printedIn(ended)).toBe(allSteps);
    expect(await callTool(agent, 'run_code', { code: 'step' })).toMatchObject({
      status: 'ok',
      outputs: [{ data: { 'text/plain': ['2'] } }],
    });
    await until(() => keptIn(home).length === 0);
  } finally {
    await close();
  }
});

it('the next call has what a cell printed while nobody was there, and its end', { timeout, tags: ['P-330'] }, async () => {
  const { home, agent, runId, close } = await begin('unheard', inSteps('unheard'));
  try {
    const kernelId = (await findKernelSession(lab.server, 'unheard.ipynb'))?.kernelId ?? '';
    const kernel = async () => (await lab.server.request(`api/kernels/${kernelId}`)) as JsonObject;
    kill(home);
    // What the server still sends to a connection whose end it has not noticed is nowhere.
    await until(async () => (await kernel()).connections === 0);
    for (const step of [1, 2]) await goOn('unheard', step);
    await until(async () => (await kernel()).execution_state === 'idle');
    await untilAnswered(agent);
    const ended = await callTool(agent, 'get_run', { run_id: runId, wait_seconds: 40 });
    expect(ended).toMatchObject({ status: 'ok', execution_count: 1 });
    expect(printedIn(ended)).toBe(allSteps);
  } finally {
    await close();
  }
});

it('an end that another client of the kernel heard alone is said to be unseen; nothing hangs', { timeout, tags: ['P-330'] }, async () => {
  const { home, agent, runId, close } = await begin('shared', inSteps('shared'));
  const kernelId = (await findKernelSession(lab.server, 'shared.ipynb'))?.kernelId ?? '';
  // As a tab of Lab is: what the kernel says while it is there is not kept for others.
  const person = await KernelChannel.open(lab.server, kernelId, { session: 'a-person', onMessage: () => {} });
  try {
    kill(home);
    for (const step of [1, 2]) await goOn('shared', step);
    await until(async () => ((await lab.server.request(`api/kernels/${kernelId}`)) as JsonObject).execution_state === 'idle');
    await untilAnswered(agent);
    expect(await callTool(agent, 'get_run', { run_id: runId, wait_seconds: 40 })).toMatchObject({ run_id: runId, status: 'failed' });
    expect(await callTool(agent, 'run_code', { code: 'print(step)' })).toMatchObject({ status: 'ok', outputs: [{ text: ['2\n'] }] });
  } finally {
    person.close();
    await person.closed;
    await close();
  }
});

it('a run of an earlier process is interrupted by its id, and is no run any more when its kernel was restarted', {
  timeout,
  tags: ['P-330'],
}, async () => {
  const { home, agent, runId, close } = await begin('stopped', 'import time\nkept = 1\nprint("step 0", flush=True)\ntime.sleep(1000)');
  try {
    kill(home);
    await untilAnswered(agent);
    // A busy machine may need more than the 5 s for which this waits.
    await callTool(agent, 'interrupt_run', { run_id: runId });
    expect(await callTool(agent, 'get_run', { run_id: runId, wait_seconds: 40 })).toMatchObject({ run_id: runId, status: 'interrupted' });
    await callTool(agent, 'restart_kernel');
    expect(await callTool(agent, 'run_code', { code: 'kept' })).toMatchObject({ status: 'error' });
    const again = await callTool(agent, 'run_code_cell', { cellId: 'one', wait_seconds: 0 });
    await until(() => keptIn(home).length === 1);
    kill(home);
    const session = await findKernelSession(lab.server, 'stopped.ipynb');
    await lab.server.ask(`api/sessions/${session?.id}`, { method: 'DELETE' });
    await untilAnswered(agent);
    expect(await callTool(agent, 'get_run', { run_id: again.run_id ?? '' })).toMatchObject({ error: { code: 'unknown_run' } });
    await until(() => keptIn(home).length === 0);
  } finally {
    await close();
  }
});
