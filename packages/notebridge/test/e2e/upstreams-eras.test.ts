// @module-tag deep

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { createContext } from '../support/create-context.js';
import { fixtureConfig, linesOf, openUpstreams, temporaryPath } from '../support/upstreams.js';

/** A program that is only slow to start is not silent. */
const patient = { eraSilenceMs: 30_000 };
/** For those that are silent: no test has to wait for long. */
const limits = { eraSilenceMs: 300 };
const isSilent = (ways: string[]): boolean =>
  ways.some((way) => way === 'discover-silent' || way === 'discover-late' || way.startsWith('after='));
const modern = '2026-07-28';
const legacy = '2025-11-25';

function openWays(ways: string[], more: Parameters<typeof openUpstreams>[1] = { limits: isSilent(ways) ? limits : patient }) {
  const file = temporaryPath('opens');
  const opened = openUpstreams([fixtureConfig('opens.mjs', [file, ...ways])], more);
  return { ...opened, notes: () => linesOf(file).map((line) => line.replace(/ \d+$/, '')) };
}

async function startWays(ways: string[], more?: Parameters<typeof openUpstreams>[1]) {
  const opened = openWays(ways, more);
  await opened.upstreams.start();
  return opened;
}

const saidInSession = { content: [{ type: 'text', text: 'said in a session' }] };

describe('a server whose era nobody has told', { tags: ['P-347'] }, () => {
  it.each([
    ['of both eras is spoken to in the modern one', ['modern', 'legacy'], modern, ['start', 'server/discover', 'tools/list']],
    [
      'of the legacy era is asked its way at once when it refuses',
      ['legacy'],
      legacy,
      ['start', 'server/discover', 'initialize', 'notifications/initialized', 'tools/list'],
    ],
    [
      'of the modern era that ends over `initialize` is never sent it',
      ['modern', 'initialize-exits'],
      modern,
      ['start', 'server/discover'],
    ],
    ['that refuses `initialize` with -32020 is reached', ['modern', 'header-mismatch'], modern, ['start', 'server/discover', 'tools/list']],
    [
      'that is silent to what it does not know is asked both ways',
      ['legacy', 'discover-silent'],
      legacy,
      ['start', 'server/discover', 'initialize', 'notifications/initialized', 'tools/list'],
    ],
  ])('a server %s', async (_, ways, protocolVersion, notes) => {
    const { server, notes: noted, log } = await startWays(ways);
    expect(server().state).toMatchObject({ status: 'running', protocolVersion, restarts: 0 });
    await server().listTools();
    expect(noted()).toEqual(expect.arrayContaining(notes));
    expect(noted().filter((line) => line === 'initialize')).toHaveLength(notes.filter((line) => line === 'initialize').length);
    expect(log.filter((line) => line.startsWith('warn') || line.startsWith('error'))).toEqual([]);
  });

  it('a server that ends over the first question is started once more, after its end, and neither counted nor reported', async () => {
    const { server, call, notes, log, upstreams } = await startWays(['legacy', 'discover-exits']);
    expect(server().state).toMatchObject({ status: 'running', protocolVersion: legacy, restarts: 0 });
    expect(await call('echo')).toEqual(saidInSession);
    expect(notes().slice(0, 5)).toEqual(['start', 'server/discover', 'end', 'start', 'initialize']);
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([]);
    await upstreams.close();
    expect(notes().filter((line) => line === 'start')).toHaveLength(2);
  });

  it('a server that ends over both questions is tried as often as one that ends anyway, and then with each question in turn', async () => {
    const { server, notes } = await startWays(['discover-exits', 'initialize-exits']);
    expect(server().state.status).toBe('failed');
    const [both, turn] = [
      ['server/discover', 'initialize'],
      ['initialize', 'server/discover'],
    ];
    expect(notes().filter((line) => line !== 'start' && line !== 'end')).toEqual([...both, ...turn, ...turn]);
  });

  it('a server that refuses both questions says why in its own words', async () => {
    const { server } = await startWays([], { limits: { ...limits, startTimeoutMs: 20_000 } });
    expect(server().state.reason).toContain('Unsupported protocol version');
  });

  const asked = ['start', 'server/discover'];
  it.each([
    [
      'and lists ours is asked with it, and no other way',
      ['modern', 'legacy', `refuses=2027-01-01,${modern}`],
      modern,
      [...asked, 'server/discover'],
    ],
    ['and lists one of the legacy era is opened in that', ['legacy', `refuses=2027-01-01,${legacy}`], legacy, [...asked, 'initialize']],
    [
      'and refuses the one that it lists too is opened as it lists besides',
      ['legacy', `refuses=${modern},${legacy}`, `refuses=${modern},${legacy}`],
      legacy,
      [...asked, 'server/discover', 'initialize'],
    ],
    ['and lists none has said nothing of its era', ['legacy', 'refuses=none'], legacy, [...asked, 'initialize']],
  ])('a server that refuses our version %s', { tags: ['P-347'] }, async (_, ways, protocolVersion, notes) => {
    const { server, notes: noted, log } = await startWays(ways);
    expect(server().state).toMatchObject({ status: 'running', protocolVersion, restarts: 0 });
    expect(noted().slice(0, notes.length)).toEqual(notes);
    expect(noted().filter((line) => line === 'initialize')).toHaveLength(protocolVersion === legacy ? 1 : 0);
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  it.each([
    [
      'that lists no version of ours',
      ['legacy', 'refuses=2027-01-01,2028-01-01'],
      'protocol version ["2027-01-01","2028-01-01"], which we do not know',
    ],
    ['that refuses the version that it lists', ['legacy', ...Array(9).fill(`refuses=${modern}`)], 'Unsupported protocol version'],
    ['that misses a header', ['legacy', ...Array(9).fill('refuses=-32020')], 'So it is'],
    ['that misses a capability', ['legacy', ...Array(9).fill('refuses=-32021')], 'So it is'],
  ])('a server %s speaks the modern era alone, is not sent `initialize`, and says why', { tags: ['P-347'] }, async (_, ways, reason) => {
    const { server, notes } = await startWays(ways);
    expect(server().state.status).toBe('failed');
    expect(server().state.reason).toContain(reason);
    expect(new Set(notes().filter((line) => line !== 'end'))).toEqual(new Set(asked));
  });

  it('is reached in the modern era when it answers late but first, and its answer to the other question is no fault', async () => {
    const { server, call, notes, log } = await startWays(['modern', 'legacy', 'after=2500']);
    expect(server().state).toMatchObject({ protocolVersion: modern, restarts: 0 });
    expect(await call('echo')).toEqual(saidInSession);
    expect(notes()).toEqual(expect.arrayContaining(['server/discover', 'initialize']));
    expect(notes()).not.toContain('notifications/initialized');
    expect(log.filter((line) => line.includes('unexpected_answer'))).toEqual([]);
  });

  it('is reached in the legacy era when it answers that first, and its late answer to the other question is no fault', async () => {
    const { server, call, log } = await startWays(['legacy', 'discover-late', 'after=2500']);
    expect(server().state).toMatchObject({ protocolVersion: legacy, restarts: 0 });
    // The late answer comes before that of the call.
    expect(await call('echo')).toEqual(saidInSession);
    expect(log.filter((line) => line.includes('unexpected_answer'))).toEqual([]);
  });
});

describe('a server of both eras by the official SDK', () => {
  it('is spoken to in the modern era, and its changes are heard', async () => {
    const { server, call, upstreams, until } = openUpstreams([fixtureConfig('both-eras.mjs')]);
    await upstreams.start();
    expect(server().state).toMatchObject({ protocolVersion: modern, serverInfo: { name: 'both' } });
    await server().listTools();
    await call('change');
    await until(() => server().knownTools?.some(({ name }) => name === 'new') === true);
  });

  it('sends updates of the resources that are watched, of others and after the last watcher none', { tags: ['P-349'] }, async () => {
    const { server, call, upstreams, events } = openUpstreams([fixtureConfig('both-eras.mjs')]);
    await upstreams.start();
    await server().listTools();
    const watch = (method: string, uri: string) => server().request(`resources/${method}`, { uri }, createContext(`resources/${method}`));
    const updatesOf = async (...uris: string[]) => {
      events.length = 0;
      for (const uri of uris) await call('update', { uri });
      return events.flatMap((event) => (event.kind === 'notification' ? [event.notification] : []));
    };
    const updated = (uri: string) => ({ method: 'notifications/resources/updated', params: { uri } });
    await watch('subscribe', 'note:one');
    await watch('subscribe', 'note:two');
    expect(await updatesOf('note:one', 'note:three', 'note:two')).toEqual([updated('note:one'), updated('note:two')]);
    await watch('unsubscribe', 'note:one');
    expect(await updatesOf('note:one', 'note:two')).toEqual([updated('note:two')]);
    await watch('unsubscribe', 'note:two');
    expect(await updatesOf('note:one', 'note:two')).toEqual([]);
  });

  it('works when it was so slow that it was asked for both, and is known as modern the next time', async () => {
    const config = fixtureConfig('both-eras.mjs', ['2500']);
    const opened = openUpstreams([config], { limits });
    await opened.upstreams.start();
    // It keeps to the era of `initialize` once that was sent.
    expect(opened.server().state).toMatchObject({ status: 'running', protocolVersion: legacy, restarts: 0 });
    expect(await opened.call('change')).toMatchObject({ content: [{ text: 'changing' }] });
    process.kill(opened.server().state.pid ?? expect.fail(), 'SIGKILL');
    await opened.until(() => opened.server().state.restarts === 1 && opened.server().state.status === 'running');
    expect(opened.server().state.protocolVersion).toBe(modern);
    expect(await opened.call('change')).toMatchObject({ content: [{ text: 'changing' }] });
  });
});

describe('what is known of the era of a server', { tags: ['P-348'] }, () => {
  it('is kept in a private file by the hash of its entry, and used by the next process', async () => {
    const erasFile = temporaryPath('eras.json');
    const first = await startWays(['legacy', 'discover-silent'], { limits, erasFile });
    await first.upstreams.close();
    expect(first.notes()).toContain('server/discover');
    expect(statSync(erasFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(erasFile, 'utf8')).not.toContain('opens');

    const file = temporaryPath('opens');
    const config = fixtureConfig('opens.mjs', [file, 'legacy', 'discover-silent']);
    for (const asked of [1, 1]) {
      const { upstreams, server } = openUpstreams([config], { limits, erasFile });
      await upstreams.start();
      expect(server().state.protocolVersion).toBe(legacy);
      await upstreams.close();
      expect(linesOf(file).filter((line) => line === 'server/discover')).toHaveLength(asked);
    }
    expect(Object.keys(JSON.parse(readFileSync(erasFile, 'utf8')).servers)).toHaveLength(2);
  });

  it('is asked anew after a day, after an edit of the entry, and where the file is damaged', async () => {
    const [erasFile, file] = [temporaryPath('eras.json'), temporaryPath('opens')];
    const start = async (args: string[] = []) => {
      const { upstreams } = openUpstreams([fixtureConfig('opens.mjs', [file, 'legacy', ...args])], { limits, erasFile });
      await upstreams.start();
      await upstreams.close();
      return linesOf(file).filter((line) => line === 'server/discover').length;
    };
    expect([await start(), await start(), await start(['edited'])]).toEqual([1, 1, 2]);
    const kept = JSON.parse(readFileSync(erasFile, 'utf8'));
    for (const verdict of Object.values<{ at: number }>(kept.servers)) verdict.at -= 86_400_000;
    writeFileSync(erasFile, JSON.stringify(kept));
    expect(await start()).toBe(3);
    writeFileSync(erasFile, '{ "format": 1, "servers": { "a": [');
    expect(await start()).toBe(4);
  });

  it.each([
    ['modern', ['modern'], ['legacy'], legacy],
    ['legacy', ['legacy'], ['modern'], modern],
  ])('is dropped when a server of the %s era has become another', async (_, before, after, protocolVersion) => {
    const [ways, file] = [temporaryPath('ways'), temporaryPath('opens')];
    const config = fixtureConfig('opens.mjs', [], {
      args: ['--import', `data:text/javascript,${encodeURIComponent(readWays(ways, file))}`, ...fixtureConfig('opens.mjs').args],
    });
    writeFileSync(ways, before.join(' '));
    const { upstreams, server, until } = openUpstreams([config], { limits });
    await upstreams.start();
    writeFileSync(ways, after.join(' '));
    process.kill(server().state.pid ?? expect.fail(), 'SIGKILL');
    await until(() => server().state.restarts === 1 && server().state.status === 'running');
    expect(server().state.protocolVersion).toBe(protocolVersion);
  });
});

/** A program that gives the fixture its arguments from a file, so that the entry stays the same. */
function readWays(ways: string, file: string): string {
  return `import { readFileSync } from 'node:fs'; process.argv.push(${JSON.stringify(file)}, ...readFileSync(${JSON.stringify(ways)}, 'utf8').split(' '));`;
}

describe('servers of the official Python SDK', { tags: ['P-347'] }, () => {
  const program = (name: string): string =>
    `from mcp.server.${name} import ${name === 'fastmcp' ? 'FastMCP' : 'MCPServer'} as Server
server = Server("py")
@server.tool()
def add(a: int, b: int) -> int:
    return a + b
server.run()`;

  it.each([
    ['1.x', 'older', 'fastmcp', legacy],
    ['2.x', 'agents', 'mcpserver', modern],
  ])('are called: %s', { timeout: 300_000 }, async (_version, environment, module, protocolVersion) => {
    const python = await pythonWith(['mcp'], { environment });
    const { server, call, upstreams, log } = openUpstreams([fixtureConfig('', [], { command: python, args: ['-c', program(module)] })]);
    await upstreams.start();
    expect(server().state).toMatchObject({ status: 'running', protocolVersion, restarts: 0 });
    expect(await call('add', { a: 2, b: 3 })).toMatchObject({ content: [{ text: '5' }] });
    expect(log.filter((line) => line.startsWith('warn'))).toEqual([]);
  });
});
