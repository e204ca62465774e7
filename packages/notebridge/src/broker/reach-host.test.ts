import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { startOfProcess } from '@notebridge/system/processes/living-process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HostPlace, writeHostPlace } from './host-place.js';
import { reachHost } from './reach-host.js';

const version = '1.0.0';
const nobody = { request: () => Promise.reject(new Error('nothing')), notify: () => {}, closed: () => {} };
let dir: string;
let started = 0;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-reach-'));
  started = 0;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const reach = (file?: string) =>
  reachHost(
    {
      ...{ dir, version, file, logger: silentLogger, silentTimeoutMs: 30 },
      startBroker: () => {
        started++;
        return { ended: Promise.resolve('exit code 1') };
      },
    },
    () => nobody,
  );

describe('a process that says that it holds notebooks, runs, and does not answer', () => {
  /** This process, and an address where nobody listens. */
  const placeOf = (more: Partial<HostPlace>): HostPlace => ({
    kind: 'broker',
    address: `unix:${join(dir, 'nobody.sock')}`,
    secret: 's'.repeat(40),
    pid: process.pid,
    startedAt: 1,
    version,
    ...more,
  });

  it('is named with what to do, and none is started beside it', { tags: ['P-245'] }, async ({ skip }) => {
    skip(startOfProcess(process.pid) === undefined, 'which process it is that a number names, this system does not tell');
    await writeHostPlace(dir, placeOf({}));
    const message = expect.stringMatching(
      new RegExp(`process ${process.pid} holds notebooks .*does not answer.*kill -CONT ${process.pid}`),
    );
    await expect(reach()).rejects.toMatchObject({ code: 'host_silent', message });
    expect(started).toBe(0);
  });

  it('is asked in vain for the one file that it has, and the file’s lock decides', async () => {
    await writeHostPlace(dir, placeOf({ kind: 'notebook', file: '/work.ipynb' }));
    await expect(reach('/work.ipynb')).rejects.toMatchObject({ code: 'not_started', message: expect.stringContaining('exit code 1') });
    expect(started).toBe(1);
  });
});
