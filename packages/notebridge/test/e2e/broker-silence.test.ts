import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { ownVersion } from '@notebridge/system/files/own-files';
import { describe, expect, it } from 'vitest';
import type { HostPlace } from '../../src/broker/host-place.js';
import { dialHost } from '../../src/broker/join-link.js';
import { JoinListener } from '../../src/broker/join-listener.js';
import { type BrokerFile, brokersIn, livingProcesses, SharedHome, until } from '../support/broker.js';
import { pauseProcess } from '../support/pause-process.js';
import { Program, runProgram } from '../support/program.js';

/** A link is given up after half a minute. */
const slow = 180_000;
const nobody = { request: () => Promise.reject(new Error('nothing')), notify: () => {}, closed: () => {} };

// Which process it is that a number names, Linux alone tells.
describe.runIf(process.platform === 'linux')('a process that holds notebooks, or an agent, that is stopped', () => {
  it('is named to who would join it; calls end, none starts beside it, and it goes on', {
    timeout: slow,
    tags: ['deep', 'P-245'],
  }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env });
    await first.callTool('add_text_cell', { cellIndex: 0, content: 'kept' });
    const { pid } = home.broker as BrokerFile;
    await pauseProcess(pid);
    try {
      const waiting = first.callTool('get_cells');
      await using second = await Program.open({ args, env: home.env });
      const silent = { data: { code: 'host_silent' }, message: expect.stringContaining(`kill -CONT ${pid}`) };
      expect(await second.callTool('get_cells')).toMatchObject({ error: silent });
      // What it holds is not known, which is another thing than none.
      const told = (await second.callTool('list_notebooks')) as { result: { content: [{ text: string }] } };
      expect(JSON.parse(told.result.content[0].text)).toMatchObject({ notebooks: [], not_answering: [silent.message] });
      for (const call of [
        { name: 'connect_notebook', notebook: 'nb1' },
        { name: 'disconnect_notebook', notebook: 'nb9' },
      ])
        expect(JSON.stringify(await second.callTool(call.name, { notebook: call.notebook }))).toContain(`kill -CONT ${pid}`);
      expect(brokersIn(home.stateHome)).toEqual([pid]);
      expect((await runProgram(['ps'], { env: home.env })).stdout).toMatch(new RegExp(`^${pid} .*does not answer`, 'm'));
      expect(await waiting).toMatchObject({ error: { message: expect.stringMatching(/outcome is unknown/), data: { code: 'page_gone' } } });
      process.kill(pid, 'SIGCONT');
      for (const agent of [first, second]) expect(JSON.stringify(await agent.callTool('get_cells'))).toContain('kept');
      expect(home.broker?.pid).toBe(pid);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  it('an agent that is too busy to answer keeps the notebook that it holds', { timeout: slow, tags: ['P-296', 'P-638'] }, async () => {
    await using home = new SharedHome();
    const args = ['--notebook', home.path('work.ipynb')];
    await using first = await Program.open({ args, env: home.env, name: 'First agent' });
    await using second = await Program.open({ args, env: home.env, name: 'Second agent' });
    const write = (agent: Program) => agent.callTool('add_text_cell', { cellIndex: 0, content: 'x' });
    await write(first);
    // Unlike a busy process, a stopped one is certain to answer nothing.
    await pauseProcess(first.child.pid as number);
    try {
      expect(JSON.stringify(await write(second))).toContain('holds this notebook since');
    } finally {
      first.child.kill('SIGCONT');
    }
    expect(JSON.stringify(await write(first))).toContain('newCellId');
  });

  it('an agent that is stopped does not keep what it has joined from ending', { timeout: slow, tags: ['P-245'] }, async () => {
    await using home = new SharedHome();
    await using program = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    await program.callTool('get_cells');
    const { pid } = home.broker as BrokerFile;
    await pauseProcess(program.child.pid as number);
    try {
      const { ending, stdout } = await runProgram(['stop', 'all'], { env: home.env });
      expect({ ending, stdout }).toEqual({ ending: 0, stdout: `Ended: nb1 ${home.path('work.ipynb')}\n` });
      expect(livingProcesses().map((process) => process.pid)).not.toContain(pid);
    } finally {
      program.child.kill('SIGCONT');
    }
  });
});

describe('what the system or an agent names', () => {
  it('is one notebook by a link to a file that is not there yet', { timeout: slow, tags: ['P-247'] }, async () => {
    await using home = new SharedHome();
    symlinkSync('work.ipynb', home.path('link.ipynb'));
    await using first = await Program.open({ args: ['--notebook', home.path('link.ipynb')], env: home.env });
    await first.callTool('add_text_cell', { cellIndex: 0, content: 'by the link' });
    await using second = await Program.open({ args: ['--notebook', home.path('work.ipynb')], env: home.env });
    expect(JSON.stringify(await second.callTool('get_cells'))).toContain('by the link');
  });

  it('shows no row that is not there: line breaks and characters that reorder are shown by name', {
    timeout: slow,
    tags: ['P-247'],
  }, async () => {
    await using home = new SharedHome();
    const name = 'one\n999  broker\u202e';
    await using program = await Program.open({ args: ['--notebook', home.path('a\nb.ipynb')], env: home.env, name });
    await program.callTool('get_cells');
    await until(async () => (await runProgram(['ps'], { env: home.env })).stdout.includes('oneU+000A999  brokerU+202E'));
    const { stdout } = await runProgram(['ps'], { env: home.env });
    expect(stdout).toContain('aU+000Ab.ipynb');
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });
});

it('a port of loopback lets the user’s own join while others hold connections open', { timeout: slow, tags: ['P-119'] }, async () => {
  await using home = new SharedHome();
  const dir = home.path('s'.repeat(100));
  mkdirSync(dir, { mode: 0o700 });
  const version = ownVersion();
  const listener = await JoinListener.open({ dir, version, createHandler: () => nobody });
  const sockets: Socket[] = [];
  try {
    const { address, secret } = listener;
    const port = Number(/^tcp:(\d+)$/.exec(address)?.[1]);
    for (let index = 0; index < 300; index++) {
      const socket = connect({ port, host: '127.0.0.1' }).on('error', () => {});
      sockets.push(socket);
      await once(socket, 'connect');
    }
    const place: HostPlace = { kind: 'broker', address, secret, pid: process.pid, startedAt: 1, version };
    (await dialHost(place, version, () => nobody)).close();
  } finally {
    for (const socket of sockets) socket.destroy();
    listener.close();
  }
});
