// @module-tag deep

import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { KernelChannel } from '../../src/lab/kernel-channel.js';
import { findKernelSession } from '../../src/lab/kernel-sessions.js';
import type { ToolContext } from '../../src/tools/tool.js';
import { Agent, type Answer } from './support/agent.js';
import { codeCell, installTimeoutMs, TestLab } from './support/jupyter.js';
import { until } from './support/patient-until.js';

const timeout = 400_000;
let lab: TestLab;

beforeAll(async () => {
  lab = await TestLab.start();
}, installTimeoutMs);
afterAll(() => lab?.close());

async function agentAt(file: string): Promise<Agent> {
  await lab.write(file, [codeCell('one', 'a = 1')]);
  const agent = await Agent.open(lab.server, file);
  onTestFinished(() => agent.close());
  expect((await agent.call('run_code', { code: 'started = True' })).value).toMatchObject({ status: 'ok' });
  return agent;
}

const sleeping = 'import time\nprint("begun", flush=True)\ntime.sleep(1000)';
const kernelOf = async (agent: Agent) => (await findKernelSession(lab.server, agent.notebook.path))?.kernelId ?? '';

/** A cell that runs until something ends it; resolves when its code runs. */
async function begin(agent: Agent, context: ToolContext = {}): Promise<{ ended: Promise<Answer> }> {
  const { document } = agent.notebook.session;
  const before = document.cells.length;
  const ended = agent.call('run_code', { code: sleeping }, context);
  await until(() => JSON.stringify(document.cells[before]?.outputs ?? []).includes('begun'));
  return { ended };
}

it('outputs of all kinds, displays shown anew, clear_output, errors', { timeout }, async () => {
  const agent = await agentAt('kinds.ipynb');
  const code = `
from IPython.display import display, clear_output, HTML, Markdown
import sys
print("gone"); clear_output(wait=True)
print("out"); print("err", file=sys.stderr)
handle = display(Markdown("first"), display_id="d"); handle.update(Markdown("second"))
display(HTML("<b>bold</b>"))
{"a": [1, 2.0]}`;
  const { value } = await agent.call('run_code', { code });
  expect(value.status).toBe('ok');
  const text = JSON.stringify(value.outputs);
  for (const part of ['out\\n', 'err\\n', 'second', '<b>bold</b>', "{'a': [1, 2.0]}"]) expect(text).toContain(part);
  expect(text).not.toContain('gone');
  expect((await agent.call('run_code', { code: '1 / 0' })).value).toMatchObject({
    status: 'error',
    outputs: [{ ename: 'ZeroDivisionError' }],
  });
});

it('a bar of progress is told as it stands at the end, not as it was when it was shown', { timeout, tags: ['P-253'] }, async () => {
  const agent = await agentAt('bar.ipynb');
  // As tqdm.auto does it by ipywidgets.
  const code = `
from comm import create_comm
from IPython.display import display
controls = {"_model_module": "@jupyter-widgets/controls", "_model_module_version": "2.0.0"}
state = {**controls, "_model_name": "FloatProgressModel", "min": 0, "max": 20, "value": 0, "description": "Rows"}
bar = create_comm(target_name="jupyter.widget", data={"state": state, "buffer_paths": []}, metadata={"version": "2.1.0"})
view = {"model_id": bar.comm_id, "version_major": 2, "version_minor": 0}
display({"application/vnd.jupyter.widget-view+json": view, "text/plain": "Rows:   0%"}, raw=True)
for value in (10, 20): bar.send(data={"method": "update", "state": {"value": value}, "buffer_paths": []})`;
  const { text } = await agent.call('run_code', { code });
  expect(text).toContain('Rows: 20 of 20');
  expect(text).not.toContain('0%');
  expect((await agent.call('get_cells', { includeOutputs: true })).text).toContain('Rows: 20 of 20');
});

it('an interrupt of the agent ends its own cell', { timeout }, async () => {
  const agent = await agentAt('interrupt.ipynb');
  const running = await begin(agent);
  await agent.call('interrupt_execution');
  expect((await running.ended).value).toMatchObject({ status: 'interrupted' });
  const stop = new AbortController();
  const cancelled = await begin(agent, { signal: stop.signal });
  stop.abort();
  expect((await cancelled.ended).value).toMatchObject({ status: 'interrupted' });
});

it('an interrupt does not hit the cell of a person that is before it in the kernel', { timeout }, async () => {
  const agent = await agentAt('before.ipynb');
  const ends: string[] = [];
  const answers: string[] = [];
  const person = await KernelChannel.open(lab.server, await kernelOf(agent), {
    session: 'a-person',
    onMessage: ({ channel, type, content }) => {
      if (type === 'execute_reply') ends.push(String(content.status));
      if (channel === 'control') answers.push(type);
    },
  });
  onTestFinished(async () => {
    person.close();
    await person.closed;
  });
  const code = 'import pathlib, time\nwhile not pathlib.Path("person-is-done").exists(): time.sleep(0.05)';
  person.send({
    channel: 'shell',
    type: 'execute_request',
    content: { code, silent: false, store_history: true, user_expressions: {}, allow_stdin: false, stop_on_error: true },
  });
  await until(() => agent.notebook.session.kernel.state === 'busy');
  const states: string[] = [];
  agent.notebook.session.kernel.onState((state) => states.push(state));
  // As each server asks for each new client: the kernel answers on its control channel while the cell runs.
  for (const number of [1, 2]) {
    person.send({ channel: 'control', type: 'kernel_info_request', content: {} });
    await until(() => answers.length === number);
  }
  const stop = new AbortController();
  const waiting = agent.call('run_code', { code: sleeping }, { signal: stop.signal });
  await until(() => agent.notebook.session.running !== undefined);
  stop.abort();
  expect(ends).toEqual([]);
  await writeFile(`${lab.folder}/person-is-done`, '');
  expect((await waiting).value).toMatchObject({ status: 'interrupted' });
  await until(() => ends.length > 0);
  expect(ends).toEqual(['ok']);
  // Of the person's cell the end, then the agent's.
  expect(states).toEqual(['idle', 'busy', 'idle']);
  expect((await agent.call('run_code', { code: '"alive"' })).value).toMatchObject({ status: 'ok' });
});

it('an error in a person’s cell does not throw away the agent’s, which waits behind it', { timeout }, async () => {
  const agent = await agentAt('aborted.ipynb');
  const person = await KernelChannel.open(lab.server, await kernelOf(agent), { session: 'another-person', onMessage: () => {} });
  onTestFinished(async () => {
    person.close();
    await person.closed;
  });
  const code = 'import time\ntime.sleep(2)\n1/0';
  person.send({
    channel: 'shell',
    type: 'execute_request',
    content: { code, silent: false, store_history: true, user_expressions: {}, allow_stdin: false, stop_on_error: true },
  });
  await until(() => agent.notebook.session.kernel.state === 'busy');
  expect((await agent.call('run_code', { code: '"mine"' })).value).toMatchObject({
    status: 'ok',
    outputs: [{ data: { 'text/plain': ["'mine'"] } }],
  });
});

it('input() with nobody to answer is an error that says so', { timeout }, async () => {
  const agent = await agentAt('input.ipynb');
  const { value } = await agent.call('run_code', { code: 'input("name?")' });
  expect(value.status).not.toBe('ok');
  expect(JSON.stringify(value)).toMatch(/nobody has the notebook open|StdinNotImplementedError/);
});

/** The server interrupts a kernel before it ends it: the cell may see that first. */
async function endOf(ended: Promise<Answer>): Promise<string> {
  const { value, error } = await ended;
  return error?.code ?? value.status;
}

const worksAgain = (agent: Agent) => until(async () => (await agent.call('run_code', { code: '"again"' })).value.status === 'ok');

it('a kernel that dies while a cell runs is there again, and it is said', { timeout }, async () => {
  const agent = await agentAt('died.ipynb');
  expect((await agent.call('run_code', { code: 'import os; os._exit(1)' })).error).toMatchObject({ code: 'kernel_dead' });
  await worksAgain(agent);
});

it('what a thread or task shows when its cell has ended comes to that cell', { timeout, tags: ['P-657'] }, async () => {
  const agent = await agentAt('late.ipynb');
  const code = `
import asyncio
from IPython.display import display
go = asyncio.Event()
async def late():
    await go.wait(); print("late"); display("shown")
task = asyncio.create_task(late())`;
  const { newCellId } = (await agent.call('run_code', { code })).value;
  const other = (await agent.call('run_code', { code: 'go.set()' })).value;
  const textOf = (id: string) => JSON.stringify(agent.notebook.session.document.get(id).cell.outputs);
  await until(() => textOf(newCellId).includes('late') && textOf(newCellId).includes('shown'));
  expect(textOf(other.newCellId)).toBe('[]');
  await until(async () => JSON.stringify((await lab.read('late.ipynb')).cells).includes("'shown'"));
});

it('a kernel that a person restarts while a cell runs ends the cell', { timeout }, async () => {
  const agent = await agentAt('restarted.ipynb');
  const { ended } = await begin(agent);
  await lab.server.request(`api/kernels/${await kernelOf(agent)}/restart`, { method: 'POST', body: {} });
  expect(await endOf(ended)).toMatch(/^(interrupted|kernel_dead)$/);
  await worksAgain(agent);
});

it('a kernel that a person chooses in its place is the notebook’s from then on', { timeout }, async () => {
  const agent = await agentAt('exchanged.ipynb');
  const { ended } = await begin(agent);
  const session = await findKernelSession(lab.server, 'exchanged.ipynb');
  await lab.server.request(`api/sessions/${session?.id}`, { method: 'PATCH', body: { kernel: { name: 'python3' } } });
  expect(await endOf(ended)).toMatch(/^(interrupted|kernel_dead)$/);
  await worksAgain(agent);
  expect(await kernelOf(agent)).not.toBe(session?.kernelId);
});

it('a kernel that a person shuts down is started again when it is asked for', { timeout }, async () => {
  const agent = await agentAt('shut.ipynb');
  const { ended } = await begin(agent);
  const { id } = (await findKernelSession(lab.server, 'shut.ipynb')) ?? {};
  await lab.server.request(`api/sessions/${id}`, { method: 'DELETE' });
  expect(await endOf(ended)).toMatch(/^(interrupted|kernel_dead)$/);
  await until(() => agent.notebook.session.kernel.state === 'dead');
  expect((await agent.call('run_code', { code: '1' })).error).toMatchObject({ code: 'kernel_dead' });
  expect((await agent.call('restart_kernel')).error).toBeUndefined();
  expect((await agent.call('run_code', { code: '"new"' })).value).toMatchObject({ status: 'ok', execution_count: 1 });
});

it('a JupyterLab that was started again has a kernel for the notebook again', { timeout, tags: ['P-661'] }, async () => {
  const agent = await agentAt('lab-again.ipynb');
  await lab.stop();
  await lab.run();
  await until(() => agent.notebook.session.kernel.state === 'dead');
  // Its document comes back by a way of its own.
  await until(async () => (await agent.call('get_notebook_info')).value.live === true);
  const { cells } = agent.notebook.session.document;
  const refused = await agent.call('run_code', { code: '1' });
  expect(refused.error).toMatchObject({ code: 'kernel_dead', message: expect.stringContaining('restart_kernel') });
  expect(agent.notebook.session.document.cells).toHaveLength(cells.length);
  expect((await agent.call('restart_kernel')).error).toBeUndefined();
  expect((await agent.call('run_code', { code: '"new"' })).value).toMatchObject({ status: 'ok', execution_count: 1 });
});

it('completion and inspection are the kernel’s, with characters of two halves before them', { timeout }, async () => {
  const agent = await agentAt('complete.ipynb');
  const { kernel } = agent.notebook.session;
  await agent.call('run_code', { code: 'wonderful = 1' });
  const code = '"😀"; wonder';
  // The first one loads what completes, which may take longer than it is waited for.
  const found = await until(async () => {
    const completions = await kernel.complete(code, code.length);
    return completions.matches.length > 0 && completions;
  });
  expect(found).toMatchObject({ matches: ['wonderful'], start: 6, end: code.length });
  expect(JSON.stringify(await kernel.inspect('print', 5))).toContain('Prints the values');
});
