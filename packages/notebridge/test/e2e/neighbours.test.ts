// @module-tag deep
// @module-tag P-192

/** SIGUSR1 is how any process of the user opens the debugger of a Node process. Ours stay closed, and alive. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Program } from '../support/program.js';

/** All Node processes below the given one, itself included. */
function nodesBelow(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const own = readlinkSync(`/proc/${pid}/exe`) === process.execPath ? [pid] : [];
  return [...own, ...children.flatMap(nodesBelow)];
}

/** The TCP sockets that a process listens with. */
function listeners(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  const rows = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/${pid}/net/${name}`, 'utf8').split('\n').slice(1));
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.has(inode ?? ''))
    .map(([, local = '']) => local)
    .sort();
}

it.skipIf(process.platform !== 'linux').each(['auto', 'off'])(
  'no process of ours opens its debugger for a signal (--sandbox %s)',
  async (sandbox) => {
    await using program = await Program.open({ args: ['--notebook', 'local', '--sandbox', sandbox] });
    await program.callTool('run_code', { code: 'x = 41' });
    const pids = nodesBelow(program.child.pid ?? 0);
    // The agent's process, the broker and the kernel.
    expect(pids).toHaveLength(3);
    const before = pids.map(listeners);
    for (const pid of pids) for (let count = 0; count < 3; count++) process.kill(pid, 'SIGUSR1');
    expect(await program.callTool('run_code', { code: 'x + 1' })).toMatchObject({
      result: { content: [{ text: expect.stringMatching(/42/) }] },
    });
    expect(nodesBelow(program.child.pid ?? 0)).toEqual(pids);
    expect(pids.map(listeners)).toEqual(before);
    expect(program.stderr).not.toMatch(/Debugger listening/);
  },
);

it.skipIf(process.platform === 'win32')('the program of the container that looks whether it is well opens no debugger', async () => {
  const program = fileURLToPath(new URL('../../../../deploy/healthy.mjs', import.meta.url));
  // It waits for an answer that never comes: this test is its only neighbour.
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const asked = new Promise<void>((resolve) =>
    server.once('connection', (socket) => {
      // It reads to the end, or the socket would stay half open.
      socket.resume();
      socket.on('error', () => {});
      child.kill('SIGUSR1');
      // Its answer comes after the signal.
      socket.end('HTTP/1.1 500 x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      resolve();
    }),
  );
  const child = spawn(process.execPath, [program, `http://127.0.0.1:${port}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  await asked;
  const code = await new Promise((resolve) => child.once('close', resolve));
  server.close();
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
});
