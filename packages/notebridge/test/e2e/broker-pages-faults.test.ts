// @module-tag deep
// @module-tag P-326

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { SharedHome, until } from '../support/broker.js';
import { Program, programFile } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { settableClock, whyNoClock } from '../support/set-clock.js';
import { findSmallDisk } from '../support/small-disk.js';

const slow = 240_000;
const smallDisk = findSmallDisk();
const asColab = ({ method }: JsonObject): JsonObject | undefined =>
  method === 'tools/call' ? { result: { content: [{ type: 'text', text: 'cells of the page' }] } } : undefined;
const cells = async (agent: Program): Promise<string> => JSON.stringify(await agent.callTool('get_cells'));
const write = async (agent: Program): Promise<string> =>
  JSON.stringify(await agent.callTool('add_text_cell', { cellIndex: 0, content: 'x' }));

describe('the clock of the broker is set while pages and agents are there', () => {
  beforeEach(({ skip }) => skip(whyNoClock !== undefined, whyNoClock));

  it.each(['+1d', '-1h'])(
    'pages stay and come back, and the holder stays the holder, when the clock is set by %s',
    { timeout: slow },
    async (offset) => {
      await using home = new SharedHome();
      const clock = settableClock(home.path('clock'));
      const args = [programFile, 'broker', '--state-dir', home.stateDir, '--broker-idle', '600'];
      mkdirSync(home.stateDir, { recursive: true, mode: 0o700 });
      const broker = spawn(process.execPath, args, { env: { ...bareEnvironment(), ...home.env, ...clock.env }, cwd: '/', stdio: 'ignore' });
      onTestFinished(() => void broker.kill('SIGKILL'));
      await until(() => home.broker?.pid === broker.pid);
      await using first = await Program.open({ args: ['--hold', 'join'], env: home.env, name: 'First agent' });
      await using second = await Program.open({ args: ['--hold', 'join'], env: home.env, name: 'Second agent' });
      const { port, token } = await first.address();
      await using page = await RawPage.serve({ port, token, answer: asColab });
      const { notebooks } = JSON.parse(textOf(await first.callTool('list_notebooks'))) as {
        notebooks: { id: string; connected: boolean }[];
      };
      const notebook = notebooks.find(({ connected }) => connected)?.id;
      await second.callTool('connect_notebook', { notebook });
      expect(await write(first)).not.toContain('isError');

      clock.set(offset);
      expect(await cells(first)).toContain('cells of the page');
      expect(await write(second)).toContain('holds this notebook');
      expect(await write(first)).not.toContain('isError');
      await page.close();
      // Colab's page has one token, also after a reload.
      await using again = await RawPage.serve({ port, token, answer: asColab });
      expect(await cells(second)).toContain('cells of the page');
      expect(again.messages.some(({ method }) => method === 'tools/call')).toBe(true);
    },
  );
});

describe('the disk of the broker is full', () => {
  beforeEach(({ skip }) => skip(smallDisk.launch === undefined, smallDisk.why));

  it('pages go on, what was kept is whole, and a page comes back to the next broker', { timeout: slow }, async () => {
    if (smallDisk.launch === undefined) return;
    await using home = new SharedHome(0);
    mkdirSync(home.stateDir, { recursive: true, mode: 0o700 });
    await using agent = new Program({ args: ['--hold', 'join'], env: home.env, launch: smallDisk.launch(home.stateDir, '512k') });
    await agent.initialize();
    const { port, token } = await agent.address();
    const inside = `/proc/${agent.child.pid}/root${home.stateDir}`;
    const brokerPid = (): number => (JSON.parse(readFileSync(join(inside, 'broker.json'), 'utf8')) as { pid: number }).pid;
    await using page = await RawPage.serve({ port, token, answer: asColab });
    expect(await cells(agent)).toContain('cells of the page');
    const file = join(inside, 'pages.json');
    // Whole at each moment: what is written while the disk is full never takes the place of what is there.
    const kept = (): unknown => JSON.parse(readFileSync(file, 'utf8'));
    const slot = { port, slots: [{ profile: 'colab' }] };
    await until(() => existsSync(file));

    fill(inside);
    await page.close();
    await using back = await RawPage.serve({ port, token, answer: asColab });
    expect(await cells(agent)).toContain('cells of the page');
    expect(kept()).toMatchObject(slot);

    const killed = brokerPid();
    process.kill(killed, 'SIGKILL');
    expect(await back.closed).toBe(1006);
    // The next broker cannot write where it is: it says so, and takes nothing of what was kept.
    await until(async () => /no space|disk is full|ENOSPC|could not be started/i.test(await cells(agent)));
    expect(kept()).toMatchObject(slot);

    rmSync(join(inside, 'filler'));
    await until(async () => (await cells(agent)).includes('reload the Google Colab tab'));
    expect(brokerPid()).not.toBe(killed);
    await using last = await RawPage.serve({ port, token, answer: asColab });
    expect(await cells(agent)).toContain('cells of the page');
    expect(last.messages.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });
});

function textOf({ result }: JsonObject): string {
  return (result as { content: { text: string }[] }).content.map(({ text }) => text).join('\n');
}

function fill(folder: string): void {
  let size = 64 * 1024;
  const chunks: Buffer[] = [];
  for (;;) {
    try {
      writeFileSync(join(folder, 'filler'), Buffer.concat([...chunks, Buffer.alloc(size)]));
      chunks.push(Buffer.alloc(size));
    } catch (error) {
      if ((error as { code?: string }).code !== 'ENOSPC') throw error;
      if (size <= 1024) return;
      size /= 2;
    }
  }
}
