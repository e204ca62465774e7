// @module-tag deep

import { rmSync, writeFileSync } from 'node:fs';
import { codeOf } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { ServerTools } from '../../src/catalog/server-tools.js';
import { createContext } from '../support/create-context.js';
import type { UpstreamsForTest } from '../support/upstreams.js';
import { createCall, fixtureConfig, linesOf, openUpstreams, temporaryPath } from '../support/upstreams.js';

/** Kills a server, and resolves when it runs again. */
async function kill({ server, until }: UpstreamsForTest): Promise<void> {
  const { pid = expect.fail('it does not run'), restarts } = server().state;
  process.kill(pid, 'SIGKILL');
  await until(() => server().state.status === 'running' && server().state.restarts > restarts);
}

describe('a server that is killed', () => {
  it('fails the 100 calls that it worked on, runs again, and none is run twice', { tags: ['P-063', 'P-064'] }, async () => {
    const file = temporaryPath('calls');
    const opened = openUpstreams([fixtureConfig('calls.mjs', [file])]);
    const { call, server, upstreams } = opened;
    await upstreams.start();
    await server().listTools();
    const calls = Array.from({ length: 100 }, (_, n) => call('wait', { key: n }).catch((error: unknown) => error as Error));
    // Calls are taken in the order in which they were sent.
    await call('echo');
    expect(linesOf(file)).toHaveLength(100);
    expect(server().state.inFlight).toBe(100);
    const restarted = kill(opened);
    const errors = await Promise.all(calls);
    expect(errors.map(codeOf)).toEqual(errors.map(() => 'upstream_unavailable'));
    expect(errors[0]).toMatchObject({
      message: '"it" went away while the call ran (SIGKILL). Whether it had an effect is unknown.',
      data: { server: 'it', ran: 'unknown' },
    });
    await restarted;
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
    expect(linesOf(file)).toEqual(Array.from({ length: 100 }, (_, n) => `wait ${n}`));
    expect(server().state).toMatchObject({ status: 'running', restarts: 1, inFlight: 0 });
  });

  it('lets calls wait that come while it starts again', async () => {
    const opened = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')])]);
    const { call, server, upstreams, until } = opened;
    await upstreams.start();
    process.kill(server().state.pid ?? expect.fail(), 'SIGKILL');
    await until(() => server().state.status === 'restarting');
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
  });

  it('is asked once more, after its restart, for what does no harm twice, and for nothing else', { tags: ['P-064'] }, async () => {
    const file = temporaryPath('calls');
    const { call, server } = openUpstreams([fixtureConfig('calls.mjs', [file])]);
    await server().listTools();
    expect(await call('read_once')).toMatchObject({ content: [{ text: 'alive' }] });
    expect(await call('set_once')).toMatchObject({ content: [{ text: 'alive' }] });
    await expect(call('change_once')).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(linesOf(file)).toEqual(['read_once', 'read_once', 'set_once', 'set_once', 'change_once']);
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
  });

  it('harms no other server', { tags: ['P-062'] }, async () => {
    const file = temporaryPath('calls');
    const opened = openUpstreams([
      fixtureConfig('calls.mjs', [temporaryPath('it')]),
      fixtureConfig('calls.mjs', [file], { name: 'other' }),
    ]);
    const { server, upstreams } = opened;
    await upstreams.start();
    const before = server('other').state.pid;
    const context = createCall('wait', { key: 'a' });
    const waiting = server('other').request('tools/call', context.message, context);
    await kill(opened);
    context.cancellation.cancel('seen');
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    expect(server('other').state).toMatchObject({ pid: before, restarts: 0 });
  });

  it('crashes with one call, and fails that one', async () => {
    const { call, server } = openUpstreams([fixtureConfig('calls.mjs', [temporaryPath('calls')])]);
    await server().listTools();
    await expect(call('crash')).rejects.toMatchObject({ code: 'upstream_unavailable', message: expect.stringContaining('exit code 1') });
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
  });
});

describe('a server that does not start', () => {
  const secret = { FIXTURE_KEY: 'key-of-the-fixture' };

  it('is given up after some tries, with the reason and the end of its stderr; a later call tries again', { tags: ['P-063'] }, async () => {
    const mendedBy = temporaryPath('mended');
    const { call, server, upstreams, log } = openUpstreams([fixtureConfig('exits.mjs', [mendedBy], { env: secret })], {
      limits: { coolDownMs: 0 },
    });
    await upstreams.start();
    const { status, reason } = server().state;
    expect(status).toBe('failed');
    expect(reason).toContain('exit code 3');
    expect(reason).toContain('The key [redacted: FIXTURE_KEY] is not good.');
    expect(log.filter((line) => line.includes('is started again'))).toHaveLength(4);
    expect(log.filter((line) => line.includes('is given up'))).toHaveLength(1);
    const started = log.filter((line) => line.includes('is not good.') && line.includes('stderr"')).length;
    await expect(call('echo')).rejects.toMatchObject({
      code: 'upstream_unavailable',
      message: expect.stringMatching(/"it" is not available \(failed\)\. .*exit code 3.*\n.*\[redacted: FIXTURE_KEY\] is not good/s),
      data: { ran: 'no' },
    });
    expect(log.filter((line) => line.includes('is not good.') && line.includes('stderr"'))).toHaveLength(started + 1);
    writeFileSync(mendedBy, '');
    expect(await call('echo')).toMatchObject({ content: [{ text: 'mended' }] });
    expect(server().state.status).toBe('running');
  });

  it('is left alone for a while after it was given up', async () => {
    const mendedBy = temporaryPath('mended');
    const { call, upstreams } = openUpstreams([fixtureConfig('exits.mjs', [mendedBy])], { limits: { coolDownMs: 60_000 } });
    await upstreams.start();
    writeFileSync(mendedBy, '');
    await expect(call('echo')).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('is tried again by prompts, resources and completion as by a call of a tool', { tags: ['P-063'] }, async () => {
    const mendedBy = temporaryPath('mended');
    const { server, upstreams, until } = openUpstreams([fixtureConfig('exits.mjs', [mendedBy])], { limits: { coolDownMs: 0 } });
    const provider = new ServerTools({ servers: upstreams, logger: silentLogger });
    const asked: [string, JsonObject, object][] = [
      ['prompts/list', {}, { prompts: [{ name: 'it__greet' }] }],
      ['prompts/get', { name: 'it__greet' }, { description: 'mended' }],
      ['resources/list', {}, { resources: [{ uri: 'note:one' }] }],
      ['resources/templates/list', {}, { resourceTemplates: [{ uriTemplate: 'note:{name}' }] }],
      ['resources/read', { uri: 'note:one' }, { contents: [{ text: 'mended' }] }],
      ['resources/read', { uri: 'note:unlisted' }, { contents: [{ text: 'mended' }] }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'it__greet' } }, { completion: { values: ['mended'] } }],
      ['completion/complete', { ref: { type: 'ref/resource', uri: 'note:{name}' } }, { completion: { values: ['mended'] } }],
    ];
    await upstreams.start();
    for (const [method, params, answer] of asked) {
      expect(server().status).toBe('failed');
      writeFileSync(mendedBy, '');
      expect(await provider.request(method, params, createContext(method, params))).toMatchObject(answer);
      rmSync(mendedBy);
      process.kill(server().state.pid ?? expect.fail(), 'SIGKILL');
      await until(() => server().status === 'failed');
    }
  });

  it('is tried again when its entry is looked at again', async () => {
    const mendedBy = temporaryPath('mended');
    const config = fixtureConfig('exits.mjs', [mendedBy]);
    const { call, upstreams } = openUpstreams([config], { limits: { coolDownMs: 60_000 } });
    await upstreams.start();
    writeFileSync(mendedBy, '');
    await upstreams.reconcile([config]);
    expect(await call('echo')).toMatchObject({ content: [{ text: 'mended' }] });
  });

  it('is given up at once if there is no such program', async () => {
    const { call, server, upstreams } = openUpstreams([fixtureConfig('', [], { command: 'no-such-program', args: [] })]);
    await upstreams.start();
    expect(server().state).toMatchObject({
      status: 'failed',
      restarts: 0,
      reason: expect.stringContaining('there is no program "no-such-program"'),
    });
    await expect(call('echo')).rejects.toMatchObject({ message: expect.stringContaining('no-such-program') });
    await expect(server().listTools()).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('fails the calls that wait for it when it does not answer in time, and can be stopped meanwhile', async () => {
    const { call, server, upstreams, until } = openUpstreams([fixtureConfig('hangs.mjs')], { limits: { startTimeoutMs: 3000 } });
    const error: unknown = await call('echo').catch((rejected: unknown) => rejected);
    expect(error).toMatchObject({ code: 'upstream_unavailable', message: expect.stringContaining('within 3000 ms') });
    // Of one of its starts: a busy machine may have had it say nothing in the first.
    await until(() => /did not answer "initialize"[^]*thinking about it/.test(server().state.reason ?? ''));
    const waiting = call('echo').catch((rejected: unknown) => rejected);
    await upstreams.close();
    expect(codeOf(await waiting)).toBe('upstream_unavailable');
    expect(server().state.status).toBe('stopped');
  });

  it('is waited for by no caller of another server, nor is one that hangs or prints noise', { tags: ['P-062'] }, async () => {
    const names = ['exits', 'hangs', 'noisy'];
    const [file, works] = [temporaryPath('mended'), temporaryPath('calls')];
    const { upstreams, server, until } = openUpstreams([
      ...names.map((name) => fixtureConfig(`${name}.mjs`, [file], { name })),
      fixtureConfig('calls.mjs', [works], { name: 'works' }),
    ]);
    const starting = upstreams.start();
    const callWorking = (): Promise<unknown> => {
      const context = createCall('echo', { a: 1 });
      return server('works').request('tools/call', context.message, context);
    };
    expect(await callWorking()).toMatchObject({ structuredContent: { a: 1 } });
    const { pid } = server('works').state;
    await until(() => server('exits').state.status === 'failed' && server('noisy').state.status === 'running');
    expect(server('hangs').state.status).toBe('starting');
    expect(await callWorking()).toMatchObject({ structuredContent: { a: 1 } });
    expect(server('works').state).toMatchObject({ pid, restarts: 0 });
    await upstreams.close();
    await starting;
  });

  it('lets go of a caller who does not want to wait for it any more', async () => {
    const { call } = openUpstreams([fixtureConfig('hangs.mjs')]);
    const context = createCall('echo');
    const waiting = call('echo', {}, context);
    context.cancellation.cancel('no time');
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  });
});
