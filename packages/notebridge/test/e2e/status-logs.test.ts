// @module-tag deep
// @module-tag P-473

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hangsAfterMs } from '../support/hangs-after.js';
import { createHome, programFile, runProgram } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

describe('the hub on one screen, and its log', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    const servers = {
      notes: { command: process.execPath, args: [fixtureServer('changing.mjs'), '1', 'silently'] },
      broken: {
        command: process.execPath,
        args: ['-e', 'console.error("\\u001b[31mno key: " + process.env.KEY); process.exit(3)'],
        env: { KEY: 'sesame-open-up' },
      },
    };
    hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
    await hub.logged('is given up');
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  it('status names first what is wrong, and where to read on', async () => {
    await hub.call('notes', 'nothing', {}, hub.ownerToken);
    const { stdout, ending } = await hub.run('status');
    expect(ending).toBe(0);
    expect(stdout).toMatch(/^failed {2}broken: It did not start: .*exit code 3.*\n {8}no key: /);
    expect(stdout).toMatch(/logs --server broken$/m);
    expect(stdout).toMatch(/^Servers {2}2, \d running: notes, broken$/m);
    expect(stdout).toMatch(/^notes:nothing .* ago +owner +unknown_tool +\S+$/m);
    expect(stdout).not.toContain('\u001b');
    const { stdout: json } = await hub.run('status', '--json');
    expect(JSON.parse(json)).toMatchObject({
      ...{ url: hub.url, pid: hub.pid, config_file: hub.configFile, code_mode: false, approvals: 0 },
      servers: [{ name: 'notes' }, { name: 'broken', status: 'failed' }],
      failed_calls: [{ tool: 'nothing', outcome: 'unknown_tool' }],
    });
  });

  it('status and the console are told of a server that has been starting for longer than usual', { tags: ['P-715'] }, async () => {
    const slow = await ServedHub.start({
      servers: { slow: { command: process.execPath, args: [fixtureServer('hangs.mjs')] } },
      args: ['--notebook', 'none'],
    });
    onTestFinished(() => slow[Symbol.asyncDispose]());
    const isLate = async (): Promise<boolean> => {
      const answer = await slow.request('/api/v1/hub', { token: slow.ownerToken });
      return ((await answer.json()) as { servers: { starting_late: boolean }[] }).servers[0]?.starting_late === true;
    };
    expect(await isLate()).toBe(false);
    await vi.waitUntil(isLate, { timeout: hangsAfterMs, interval: 200 });
    expect((await slow.run('status')).stdout).toMatch(/^starting {2}slow: for \d+ s, longer than it usually takes\n/);
    // It is not waited for any more, and takes no hub out of service.
    expect((await slow.request('/readyz')).status).toBe(200);
  });

  it('logs shows the last lines, of one server or level, without secrets and control characters', async () => {
    const all = await hub.run('logs');
    expect(all.stdout).toContain('Serving.');
    expect(all.stdout).toContain('broken | no key: [redacted: KEY');
    expect(all.stdout).not.toContain('sesame');
    expect(all.stdout).not.toContain('\u001b');
    const ofServer = await hub.run('logs', '--server', 'broken', '--level', 'error');
    expect(ofServer.stdout).toMatch(/^\S+ error: "broken" is given up/);
    expect(ofServer.stdout).not.toContain('Serving.');
    const [last] = (await hub.run('logs', '--json', '-n', '1')).stdout.trim().split('\n');
    expect(JSON.parse(last ?? '')).toMatchObject({ id: expect.any(Number), level: expect.any(String), time: expect.any(String) });
    expect((await hub.run('logs', '-n', '0')).ending).toBe(2);
  });

  it('logs -f goes on with what comes, and ends with Ctrl-C', async () => {
    const child = spawn(process.execPath, [programFile, 'logs', '-f', '--server', 'broken'], {
      env: hub.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    const read = (wanted: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => (text.includes(wanted) ? resolve() : void child.stdout.once('data', look));
        look();
      });
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await read('is given up');
    const before = text.length;
    // A call has it started again, and given up again; not within its first five seconds without a start.
    await vi.waitUntil(
      async () => {
        await hub.call('broken', 'anything', {}, hub.ownerToken);
        return text.includes('no key: [redacted: KEY', before);
      },
      { timeout: hangsAfterMs, interval: 500 },
    );
    child.kill('SIGINT');
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
  });

  it('both commands say what to do where no hub runs', async () => {
    const { home, env } = createHome();
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    for (const command of ['status', 'logs']) {
      const { ending, stderr } = await runProgram([command], { env });
      expect(ending).toBe(1);
      expect(stderr).toMatch(/No hub of yours runs\. One is started by: .* serve$/m);
    }
  });
});
