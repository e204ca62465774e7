import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { type BrokerFile, brokerFileIn, brokersIn, isAlive, SharedHome, until } from '../support/broker.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { pauseProcess } from '../support/pause-process.js';
import { Program, programFile, runProgram } from '../support/program.js';
import { statusOf } from '../support/raw-handshake.js';
import { findSmallDisk } from '../support/small-disk.js';

const slow = 240_000;
const smallDisk = findSmallDisk();

interface Report {
  checks: { name: string; status: string; found: string; next?: string }[];
}

async function doctor(home: SharedHome): Promise<Report['checks']> {
  const { stdout } = await runProgram(['doctor', '--json', '--port', '0', '--no-kernel'], { env: home.env });
  return (JSON.parse(stdout) as Report).checks;
}

async function expectServed(home: SharedHome): Promise<void> {
  await using agent = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
  expect(await agent.callTool('add_text_cell', { cellIndex: 0, content: 'served' })).not.toHaveProperty('error');
  expect(brokersIn(home.stateHome)).toEqual([home.broker?.pid]);
}

describe.runIf(process.platform === 'linux')('brokers that race', () => {
  it('are one in the end: the others end by themselves, with 0, and agents are served by the one', {
    timeout: slow,
    tags: ['P-226'],
  }, async () => {
    await using home = new SharedHome();
    const args = [programFile, 'broker', '--state-dir', home.stateDir, '--broker-idle', '600'];
    const env = { ...bareEnvironment(), ...home.env };
    const racing = Array.from({ length: 6 }, () => spawn(process.execPath, args, { env, cwd: '/', detached: true, stdio: 'ignore' }));
    const ended = racing.map(async (child) => {
      const [code] = await once(child, 'exit');
      return code as number | null;
    });
    await until(() => racing.filter(({ exitCode }) => exitCode === null).length === 1);
    await expectServed(home);
    const winner = racing.findIndex(({ pid }) => pid === home.broker?.pid);
    expect(await Promise.all(ended.filter((_, index) => index !== winner))).toEqual([0, 0, 0, 0, 0]);
  });
});

describe.runIf(process.platform === 'linux')('the broker’s file', () => {
  for (const { cells, tags } of coreAndDeep<[string, string | ((home: SharedHome) => Partial<BrokerFile> & { processStart?: string })]>(
    [
      ['empty', ''],
      ['half a file', '{"kind":"broker","addr'],
      ['no object', '[1]'],
      ['bytes', '\0\u{fffd}\u{1}'],
      ['of a process that has ended', () => ({ pid: 4_194_300 })],
      ['of a process whose number was given again', () => ({ pid: process.pid, processStart: '1' })],
      ['of an address that is none', () => ({ address: 'ftp:somewhere' })],
      ['of a socket that is not there', (home) => ({ address: `unix:${join(home.stateDir, 'host-1.sock')}` })],
      ['of a secret that is too short', () => ({ secret: 's' })],
    ],
    (_, index) => index % 8 === 0,
  )) {
    it.each(cells)(
      'a file that is %s keeps no agent from its notebook',
      { timeout: slow, tags: [...tags, 'P-284'] },
      async (_, content) => {
        await using home = new SharedHome();
        mkdirSync(home.stateDir, { recursive: true, mode: 0o700 });
        const whole = { kind: 'broker', address: 'tcp:1', secret: 's'.repeat(43), pid: process.pid, startedAt: 1, version: '0.1.0' };
        const text = typeof content === 'string' ? content : JSON.stringify({ ...whole, ...content(home) });
        writeFileSync(brokerFileIn(home.stateHome), text, { mode: 0o600 });
        await expectServed(home);
      },
    );
  }

  it.skipIf(smallDisk.launch === undefined)(
    'a file that cannot be written, because the disk is full, is said with what to do; with space the next call works',
    { timeout: slow, tags: ['deep', 'P-284'] },
    async () => {
      if (smallDisk.launch === undefined) return;
      await using home = new SharedHome(0);
      mkdirSync(home.stateDir, { recursive: true, mode: 0o700 });
      await using agent = new Program({
        args: ['--notebook', home.path('work.ipynb')],
        env: home.env,
        launch: smallDisk.launch(home.stateDir, '256k'),
      });
      const inside = `/proc/${agent.child.pid}/root${home.stateDir}`;
      await until(() => {
        try {
          writeFileSync(join(inside, 'filler'), Buffer.alloc(1024 * 1024));
          return false;
        } catch (error) {
          return (error as { code?: string }).code === 'ENOSPC';
        }
      });
      await agent.initialize();
      const refused = await agent.callTool('get_cells');
      expect(JSON.stringify(refused)).toMatch(/no space|disk is full|ENOSPC|could not be started/i);
      rmSync(join(inside, 'filler'));
      await until(async () => !JSON.stringify(await agent.callTool('get_cells')).includes('"error"'));
    },
  );
});

describe.runIf(process.platform === 'linux')('doctor', () => {
  it('names a broker that no file names, and one that is stopped, with what to do', {
    timeout: slow,
    tags: ['deep', 'P-011'],
  }, async () => {
    await using home = new SharedHome();
    await using agent = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    await agent.callTool('get_cells');
    const { pid } = home.broker as BrokerFile;
    await pauseProcess(pid);
    try {
      expect((await doctor(home)).find(({ name }) => name === 'open notebooks')).toMatchObject({
        status: 'fault',
        found: expect.stringMatching(/does not answer: it is stopped, or very busy/),
        next: expect.stringContaining(`kill -CONT ${pid}`),
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    rmSync(brokerFileIn(home.stateHome));
    expect((await doctor(home)).find(({ name }) => name === `open notebooks of process ${pid}`)).toMatchObject({
      status: 'note',
      found: expect.stringMatching(/no file names it/),
      next: expect.stringContaining(`kill ${pid}`),
    });
    process.kill(pid, 'SIGTERM');
    await until(() => !isAlive(pid));
  });

  it('names old tabs, and pages of other sites, in the words of the tool', { timeout: slow, tags: ['deep', 'P-011'] }, async () => {
    await using home = new SharedHome();
    const before = (await doctor(home)).filter(({ name }) => name === 'notebook pages');
    expect(before).toMatchObject([{ status: 'ok' }]);
    await using agent = await Program.open({ env: home.env });
    const { port, token } = await agent.address();
    for (let times = 0; times < 3; times++) expect(await statusOf({ port, token: 'x'.repeat(43) })).toBe(403);
    expect(await statusOf({ port, token, headers: { Origin: 'https://elsewhere.example' } })).toBe(403);
    await agent.close();
    expect((await doctor(home)).filter(({ name }) => name === 'notebook pages')).toMatchObject([
      {
        status: 'note',
        found: expect.stringMatching(/token that has ended.* 3 times/),
        next: 'Close that tab: it cannot connect any more.',
      },
      {
        status: 'note',
        found: expect.stringMatching(/only pages of https:\/\/colab.* 1 times/),
        next: expect.stringMatching(/--allow-origin/),
      },
    ]);
  });
});
