// @module-tag deep
// @module-tag P-227

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { type BrokerFile, brokersIn, isAlive, livingProcesses, SharedHome, until } from '../support/broker.js';
import { Program, programFile } from '../support/program.js';

const slow = 240_000;
/** What a broker that is killed leaves running ends by itself; a kernel that starts notices late. Milliseconds. */
const leftMs = 60_000;
const fixture = fileURLToPath(new URL('../fixtures/die-at.mjs', import.meta.url));

/** A broker as agents start it, which dies at a point of its life: it is the user's broker until then. */
async function startMortal(
  home: SharedHome,
  point: string,
  idle = '600',
): Promise<{ pid: number; below(): number[]; died: Promise<unknown> }> {
  const notes = home.path('notes.json');
  const child = spawn(process.execPath, ['--import', fixture, programFile, 'broker', '--state-dir', home.stateDir, '--broker-idle', idle], {
    env: { ...bareEnvironment(), ...home.env, DIE_AT: point, DIE_NOTES: notes },
    cwd: '/',
    detached: true,
    stdio: 'ignore',
  });
  const died = once(child, 'exit');
  const pid = child.pid ?? 0;
  await until(() => child.exitCode !== null || child.signalCode !== null || home.broker?.pid === pid);
  return {
    pid,
    died,
    below: () => (existsSync(notes) ? (JSON.parse(readFileSync(notes, 'utf8')) as { point: string; below: number[] }).below : []),
  };
}

async function expectWorks(home: SharedHome, dead: number): Promise<void> {
  await using agent = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
  const answer = await agent.callTool('add_text_cell', { cellIndex: 0, content: 'after' });
  expect(answer).not.toHaveProperty('error');
  expect(answer.result).not.toHaveProperty('isError');
  expect(home.broker?.pid).not.toBe(dead);
  expect(brokersIn(home.stateHome)).toEqual([home.broker?.pid]);
}

describe.runIf(process.platform === 'linux')('a broker that is killed with -9', () => {
  it.each(['started', 'locked', 'listening', 'file half-written', 'file written'])(
    'a kill at the point "%s" leaves no process, and the next agent is served',
    { timeout: slow },
    async (point) => {
      await using home = new SharedHome();
      const { pid, below, died } = await startMortal(home, point);
      expect(await died).toEqual([null, 'SIGKILL']);
      await until(() => !below().some(isAlive), leftMs);
      await expectWorks(home, pid);
    },
  );

  it.each(['dialled', 'agent admitted', 'opening the notebook', 'starting the kernel', 'saving'])(
    'a kill at the point "%s" leaves no process, and the agent whose call it was goes on',
    { timeout: slow },
    async (point) => {
      await using home = new SharedHome();
      const { pid, below, died } = await startMortal(home, point);
      await using agent = new Program({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
      await agent.initialize();
      const first = agent.callTool('run_code', { code: 'print(6 * 7)' });
      first.catch(() => {});
      expect(await died).toEqual([null, 'SIGKILL']);
      await until(() => !below().some(isAlive), leftMs);
      // The call that ran is answered, whatever became of it, and the next one works.
      await first;
      const next = await agent.callTool('run_code', { code: 'print(6 * 7)' });
      expect(JSON.stringify(next)).toContain('42\\\\n');
      expect(home.broker?.pid).not.toBe(pid);
    },
  );

  it('a kill at the point "idle" leaves no process, and both agents go on', { timeout: slow }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env });
    await using second = await Program.open({ args, env: home.env });
    for (const agent of [first, second]) await agent.callTool('run_code', { code: 'x = 1' });
    const { pid } = home.broker as BrokerFile;
    const below = descendantsOf(pid);
    process.kill(pid, 'SIGKILL');
    await until(() => !below.some(isAlive), leftMs);
    for (const agent of [first, second]) {
      const answer = await agent.callTool('get_cells');
      // It may not have heard of the end yet: then that call was sent, and its outcome is unknown.
      const { code } = ((answer.error as JsonObject | undefined)?.data ?? {}) as JsonObject;
      expect(code === 'page_gone' ? await agent.callTool('get_cells') : answer).not.toHaveProperty('error');
    }
    expect(home.broker?.pid).not.toBe(pid);
    expect(brokersIn(home.stateHome)).toHaveLength(1);
  });

  it('a kill at the point "ending" leaves no process, and the next agent finds what was saved', { timeout: slow }, async () => {
    await using home = new SharedHome();
    const { pid, below, died } = await startMortal(home, 'ending', '0');
    const agent = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    await agent.callTool('run_code', { code: 'print("kept")' });
    expect(home.broker?.pid).toBe(pid);
    await agent.close();
    expect(await died).toEqual([null, 'SIGKILL']);
    await until(() => !below().some(isAlive), leftMs);
    expect(readFileSync(home.path('work.ipynb'), 'utf8')).toContain('kept');
    await expectWorks(home, pid);
  });

  it('each of 50 calls of two agents is answered once when the broker is killed among them, and the next ones work', {
    timeout: slow,
    tags: ['P-227'],
  }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env });
    await using second = await Program.open({ args, env: home.env });
    const agents = [first, second];
    for (const agent of agents) await agent.callTool('get_cells');
    const { pid } = home.broker as BrokerFile;
    const below = descendantsOf(pid);
    const busy = first.callTool('run_code', { code: 'print("on")\nwhile True: pass' }, { progressToken: 1 });
    await first.until(() => first.countOf('notifications/progress') > 0, 60_000);
    const listed = JSON.stringify(await second.callTool('list_runs'));
    const [, run_id] = /run_id\\":\\"([^"\\]+)/.exec(listed) ?? [];
    // They wait for the cell that never ends: those of the agent that holds the notebook to run, those of the other for its end.
    const calls = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0 ? first.callTool('run_code', { code: `print(${index})` }) : second.callTool('get_run', { run_id, wait_seconds: 45 }),
    );
    // Behind them in both programs, so that all are on their way.
    await Promise.all(agents.map((agent) => agent.callTool('get_cells')));
    process.kill(pid, 'SIGKILL');
    const answers = await Promise.all([busy, ...calls]);
    for (const { error } of answers)
      expect(error).toMatchObject({ message: expect.stringMatching(/outcome is unknown/), data: { code: 'page_gone' } });
    await until(() => !below.some(isAlive), leftMs);
    expect(JSON.stringify(await first.callTool('run_code', { code: 'print(6 * 7)' }))).toContain('42\\\\n');
    expect(JSON.stringify(await second.callTool('get_cells', { includeOutputs: true }))).toContain('42\\\\n');
    // Nothing ran twice: what the calls would have printed stands in no cell of the file that was opened again.
    const shown = JSON.stringify(await first.callTool('get_cells', { includeOutputs: true }));
    expect([...shown.matchAll(/\\"(\d+)\\\\n\\"/g)].map(([, printed]) => printed)).toEqual(['42']);
  });
});

function descendantsOf(pid: number): number[] {
  const all = livingProcesses();
  const below = (top: number): number[] => all.filter(({ parent }) => parent === top).flatMap((child) => [child.pid, ...below(child.pid)]);
  return below(pid);
}
