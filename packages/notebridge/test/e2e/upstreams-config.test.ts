import { Redactor } from '@notebridge/protocol/util/redactor';
import { describe, expect, it } from 'vitest';
import { createContext } from '../support/create-context.js';
import { fixtureConfig, openUpstreams, temporaryPath } from '../support/upstreams.js';

const named = (name: string, more = {}) => fixtureConfig('calls.mjs', [temporaryPath(name)], { name, ...more });

describe('a change of the config', () => {
  it('starts what is new, stops what is gone, restarts what is another program now, and leaves the rest alone', {
    tags: ['P-025', 'P-352'],
  }, async () => {
    const [kept, changed, gone, added] = [named('kept'), named('changed'), named('gone'), named('added')];
    const { upstreams, server, events, until } = openUpstreams([kept, changed, gone]);
    await upstreams.start();
    // The tools of each are read after its start.
    await until(() => ['kept', 'changed', 'gone'].every((name) => server(name).knownTools !== undefined));
    const pids = ['kept', 'changed', 'gone'].map((name) => server(name).state.pid);
    const old = server('gone');
    events.length = 0;
    await upstreams.reconcile([kept, { ...changed, env: { NEW: '1' } }, added]);
    expect(upstreams.all().map(({ name, state }) => [name, state.status])).toEqual([
      ['kept', 'running'],
      ['changed', 'running'],
      ['added', 'running'],
    ]);
    expect(server('kept').state).toMatchObject({ pid: pids[0], restarts: 0 });
    expect(server('changed').state.pid).not.toBe(pids[1]);
    expect(old.state.status).toBe('stopped');
    expect(events.filter(({ server: name }) => name === 'kept')).toEqual([]);
    expect(events).toContainEqual({ server: 'gone', kind: 'removed' });
    expect(events).toContainEqual({ server: 'added', kind: 'added' });
    const context = createContext('tools/call', { name: 'env' });
    expect(await server('changed').request('tools/call', context.message, context)).toMatchObject({ structuredContent: { NEW: '1' } });
    await expect(old.request('tools/call', context.message, context)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  it('forgets the secrets that an entry no longer has, and those of one that is gone, once their programs have ended', {
    tags: ['P-640'],
  }, async () => {
    const redactor = new Redactor();
    const [changed, gone] = [named('changed', { env: { A_KEY: 'first-value-1' } }), named('gone', { env: { B_KEY: 'second-value-2' } })];
    const { upstreams } = openUpstreams([changed, gone], { redactor });
    const text = 'first-value-1 second-value-2 third-value-3';
    expect(redactor.redact(text)).toBe('[redacted: A_KEY] [redacted: B_KEY] third-value-3');
    await upstreams.start();
    await upstreams.reconcile([{ ...changed, env: { A_KEY: 'third-value-3' } }]);
    expect(redactor.redact(text)).toBe('first-value-1 second-value-2 [redacted: A_KEY]');
    expect(redactor.past.redact(text)).toBe('[redacted: A_KEY] [redacted: B_KEY] [redacted: A_KEY]');
  });

  it('a change that a running program need not know takes effect without a restart', { tags: ['deep'] }, async () => {
    const before = named('it');
    const { upstreams, server, call, events } = openUpstreams([before]);
    await upstreams.start();
    await server().listTools();
    const { pid } = server().state;
    events.length = 0;
    await upstreams.reconcile([
      { ...before, description: 'new', expose: 'code', tools: { allow: undefined, deny: ['env'] }, timeoutMs: 200 },
    ]);
    expect(server().state).toMatchObject({ pid, restarts: 0 });
    expect([server().description, server().expose]).toEqual(['new', 'code']);
    expect(server().knownTools?.map(({ name }) => name)).not.toContain('env');
    expect(events).toContainEqual({ server: 'it', kind: 'tools' });
    await expect(call('wait', { key: 'a' })).rejects.toMatchObject({ code: 'timeout' });
  });

  it('a change that disables a server ends it; its calls say so', { tags: ['deep'] }, async () => {
    const config = named('it');
    const { upstreams, server, call } = openUpstreams([config]);
    await upstreams.start();
    await upstreams.reconcile([{ ...config, disabled: true }]);
    expect(server().state.status).toBe('disabled');
    await expect(call('echo')).rejects.toMatchObject({ code: 'upstream_unavailable', message: '"it" is disabled in the config.' });
    await upstreams.reconcile([config]);
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
  });

  it('comes after the one before it, and counts last', { tags: ['deep'] }, async () => {
    const [one, two] = [named('one'), named('two')];
    const { upstreams } = openUpstreams([]);
    await Promise.all([
      upstreams.reconcile([one]),
      upstreams.reconcile([two]),
      upstreams.reconcile([one, two]),
      upstreams.reconcile([two]),
    ]);
    expect(upstreams.all().map(({ name, state }) => [name, state.status])).toEqual([['two', 'running']]);
  });
});

describe('a server that is started on first use', () => {
  it('is not started before, not even to hear that it has no prompts', { tags: ['P-029'] }, async () => {
    const { upstreams, server, call } = openUpstreams([named('it', { lazy: true })]);
    await upstreams.start();
    expect(await server().request('prompts/list', {}, createContext('prompts/list'))).toEqual({ prompts: [] });
    expect(server().state.status).toBe('stopped');
    expect(server().knownTools).toBeUndefined();
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
    expect(server().state.status).toBe('running');
  });

  it('is stopped when nobody calls it, keeps its list, and is started again by a call', { tags: ['P-029'] }, async () => {
    const { server, call, until } = openUpstreams([named('it', { lazy: true })], { limits: { lazyIdleMs: 50 } });
    await server().listTools();
    await call('echo');
    await until(() => server().state.status === 'stopped');
    expect(server().knownTools).not.toEqual([]);
    expect(await call('echo', { a: 1 })).toMatchObject({ structuredContent: { a: 1 } });
  });

  it('is not stopped while a call runs', { tags: ['P-029'] }, async () => {
    const config = named('it', { lazy: true });
    const { upstreams, server, call, until } = openUpstreams([config], { limits: { lazyIdleMs: 50 } });
    await call('echo');
    // Only for the call that it does not answer.
    await upstreams.reconcile([{ ...config, timeoutMs: 600 }]);
    await expect(call('wait', { key: 'a' })).rejects.toMatchObject({ code: 'timeout' });
    await until(() => server().state.status === 'stopped');
  });
});

describe('closing', () => {
  it('ends everything, twice without harm, and for good', { tags: ['P-352'] }, async () => {
    const { upstreams, server, call } = openUpstreams([named('it')]);
    await server().listTools();
    const waiting = call('wait', { key: 'a' }).catch((error: unknown) => error);
    await Promise.all([upstreams.close(), upstreams.close()]);
    expect(await waiting).toMatchObject({ code: 'upstream_unavailable', message: '"it" was stopped: Notebridge ends.' });
    await upstreams.start();
    await upstreams.reconcile([named('new')]);
    await expect(call('echo')).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(server().state).toMatchObject({ status: 'stopped' });
    expect(upstreams.get('new')).toBeUndefined();
  });
});
