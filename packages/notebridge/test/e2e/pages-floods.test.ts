// @module-tag deep
// @module-tag P-182

import { readFileSync } from 'node:fs';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';

const text = (value: string): JsonObject => ({ content: [{ type: 'text', text: value }] });

/** Now; 0 where the system does not say. */
function memoryMb(pid: number | undefined): number {
  const status = process.platform === 'linux' ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

describe('floods of a page', () => {
  it('log lines reach the agent as far as it can take them, with one line that counts the rest; progress is not touched', async () => {
    await using program = await Program.open();
    await using page = await RawPage.serve({ ...(await program.address()), answer: () => undefined });
    const call = program.callTool('run_code_cell', {}, { progressToken: 'p' });
    const { id, params } = await page.message('tools/call');
    const { progressToken } = (params as { _meta: JsonObject })._meta;
    const line = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(100) } });
    for (let sent = 0; sent < 100_000; sent++) {
      page.socket.send(line);
      if (sent % 1000 === 0) page.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: sent } });
    }
    page.send({ jsonrpc: '2.0', id, result: text('done') });
    expect(await call).toMatchObject({ result: text('done') });
    expect(program.countOf('notifications/progress')).toBe(100);
    const isCount = ({ params: said }: JsonObject): boolean => (said as JsonObject)?.logger === 'notebridge';
    await program.until(() => program.notifications.some(isCount));
    const [told] = program.notifications.filter(isCount);
    const dropped = Number(/Dropped (\d+) notifications of the notebook page/.exec(JSON.stringify(told))?.[1]);
    expect(dropped + program.countOf('notifications/message') - 1).toBe(100_000);
    expect(dropped).toBeGreaterThan(95_000);
  });

  it('progress costs no memory while the agent does not read, and is told as a count when it does', async () => {
    await using program = await Program.open();
    await using page = await RawPage.serve({ ...(await program.address()), answer: () => undefined });
    const call = program.callTool('run_code_cell', {}, { progressToken: 'p' });
    const { id, params } = await page.message('tools/call');
    const { progressToken } = (params as { _meta: JsonObject })._meta;
    program.child.stdout.pause();
    const message = 'x'.repeat(10_000);
    for (let progress = 1; progress <= 20_000; progress++)
      page.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, message } });
    const answered = new Promise((resolve) => page.socket.once('pong', resolve));
    page.socket.ping();
    // All of it has been read by now: the hub was not held up.
    await answered;
    expect(memoryMb(program.child.pid)).toBeLessThan(250);
    page.send({ jsonrpc: '2.0', id, result: text('done') });
    page.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    program.child.stdout.resume();
    expect(await call).toMatchObject({ result: text('done') });
    await program.notification('notifications/tools/list_changed', 1);
    const said = JSON.stringify(await program.notification('notifications/message'));
    const dropped = Number(/Dropped (\d+) notifications, since what was sent before was not read/.exec(said)?.[1]);
    expect(dropped + program.countOf('notifications/progress')).toBe(20_000);
  });
});
