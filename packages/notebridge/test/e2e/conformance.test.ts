// @module-tag deep
// @runs alone

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { conformanceSuite } from '../../../../scripts/conformance-suite.mjs';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { ExamplePage, hasChromium } from '../../../page/test/support/browser.js';
import { bareEnvironment } from '../support/bare-environment.js';
import { type Revision, revisions, testClient, testServer, type Verdict } from '../support/conformance.js';
import { openModernAgent } from '../support/http-agent.js';
import { ownPort } from '../support/own-port.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const timeout = 400_000;
const program = fixtureServer('conformance.mjs');
type OnFinished = Pick<TestContext, 'onTestFinished'>;
interface Exception {
  paths: string[];
  revisions: string[];
  check: string;
  reason: string;
}
const exceptions = JSON.parse(readFileSync(new URL('conformance-exceptions.json', import.meta.url), 'utf8')) as Exception[];
const table: string[] = [];

beforeAll(async () => {
  await conformanceSuite();
}, 600_000);
afterAll(() => console.info(['what the conformance suite requires, and what passed:', ...table.sort()].join('\n')));

/** Runs both sets. What fails must be an exception of the path, and each exception of it must fail. */
async function check(url: string, path: string, after = ''): Promise<void> {
  const address = `${url.replace(/\/(mcp)?$/, '')}/mcp`;
  const verdicts: [Revision, Verdict][] = [];
  const judge = async (revision: Revision): Promise<void> => void verdicts.push([revision, await testServer(address, revision)]);
  // A page is a notebook, which one agent at a time writes in.
  if (path === 'page') for (const revision of revisions) await judge(revision);
  else await Promise.all(revisions.map(judge));
  verdicts.sort(([a], [b]) => a.localeCompare(b));
  table.push(
    `  ${`${path}${after}`.padEnd(34)} ${verdicts.map(([revision, { passed, required }]) => `${revision}: ${passed} of ${required}`).join(', ')}`,
  );
  for (const [revision, verdict] of verdicts) expectOnly(verdict, path, revision);
}

function expectOnly({ failed }: Verdict, path: string, revision: Revision): void {
  const expected = exceptions
    .filter(({ paths, revisions: those }) => paths.includes(path) && those.includes(revision))
    .map((each) => each.check);
  const unexpected = [...failed].filter(([each]) => !expected.includes(each));
  expect({ path, revision, failed: unexpected }).toEqual({ path, revision, failed: [] });
  const passing = expected.filter((each) => !failed.has(each));
  expect({ path, revision, passing }, 'Take out of the exceptions what passes.').toEqual({ path, revision, passing: [] });
}

const serve = (servers: ServersForTest, port: number): Promise<ServedHub> =>
  ServedHub.start({ servers, port, args: ['--notebook', 'none', '--no-auth'] });

/** The server under test over HTTP, in a process of its own. */
async function startUpstream(
  { onTestFinished: onFinished }: OnFinished,
  port: number,
): Promise<{ url: string; kill: () => Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, [program, String(port)], {
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onFinished(kill);
  const [url] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { url: String(url).trim(), kill };
}

/** A server for a hub, and how it is killed; it is there again when `kill` has resolved. */
interface Upstream {
  entry: JsonObject;
  kill: (hub: ServedHub) => Promise<void>;
}

const openUpstream: Record<'stdio' | 'HTTP', (test: OnFinished) => Promise<Upstream>> = {
  async stdio() {
    const pidOf = async (hub: ServedHub): Promise<number | undefined> => {
      const answer = await hub.request('/api/v1/hub/servers', { token: hub.ownerToken });
      const pid = ((await answer.json()) as { servers: JsonObject[] }).servers[0]?.pid;
      return pid === undefined ? undefined : Number(pid);
    };
    const kill = async (hub: ServedHub): Promise<void> => {
      const pid = Number(await pidOf(hub));
      process.kill(pid, 'SIGKILL');
      await expect.poll(async () => (await pidOf(hub)) ?? pid).not.toBe(pid);
    };
    return { entry: { command: process.execPath, args: [program] }, kill };
  },
  async HTTP(test) {
    const upstream = await startUpstream(test, await ownPort());
    const kill = async (): Promise<void> => {
      await upstream.kill();
      await startUpstream(test, Number(new URL(upstream.url).port));
    };
    return { entry: { url: upstream.url }, kill };
  },
};

const ways = [
  ...(['stdio', 'HTTP'] as const).flatMap((transport) =>
    (['auto', 'modern'] as const).map((era) => ({ transport, era, instances: 'shared' })),
  ),
  // Each agent has a program of its own, in its own era.
  { transport: 'stdio', era: 'auto', instances: 'per-agent' } as const,
];

// One after the other: the suite waits half a second for some answers, on a busy machine too.
describe.sequential('what the official conformance suite requires', () => {
  it('passes at the server under test alone', { timeout }, async (test) => {
    const { url } = await startUpstream(test, await ownPort());
    await check(url, 'alone');
  });

  it.for(ways)(
    'passes through a hub before a $instances server over $transport, spoken to as $era, also after that and the hub were killed',
    {
      timeout,
      tags: ['P-355'],
    },
    async ({ transport, era, instances }, test) => {
      const upstream = await openUpstream[transport](test);
      const servers = { it: { ...upstream.entry, era, instances, names: 'plain' } };
      const hub = await serve(servers, await ownPort());
      test.onTestFinished(() => hub[Symbol.asyncDispose]());
      const path = instances === 'shared' ? `${transport}, ${era}` : `${transport}, ${instances}`;
      await check(hub.url, path);
      await upstream.kill(hub);
      await check(hub.url, path, ', its server killed');
      await hub.stop('SIGKILL');
      await using again = await serve(servers, hub.port);
      await check(again.url, path, ', the hub killed');
    },
  );
});

describe('what the official conformance suite requires of pages', () => {
  beforeEach(({ skip }) => skip(!hasChromium, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set'));

  it('passes through a hub that a page is connected to, but for what a legacy page cannot do', {
    ...drivesBrowser,
    timeout,
    tags: ['P-355'],
  }, async () => {
    const script = readFileSync(new URL('../fixtures/conformance/page.js', import.meta.url), 'utf8');
    const page = await ExamplePage.launch({
      replaced: { '/': '<!doctype html><script type="module" src="/page.js"></script>', '/page.js': script },
    });
    onTestFinished(() => page[Symbol.asyncDispose]());
    await using hub = await ServedHub.start({ args: ['--notebook', 'colab', '--no-browser', '--no-auth', '--allow-origin', page.origin] });
    const agent = openModernAgent(hub, () => undefined);
    const opened = JSON.stringify(await agent('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } }));
    const [, token = '', port = ''] = /mcpProxyToken=([^&]+)&mcpProxyPort=(\d+)/.exec(opened) ?? [];
    await page.open({ token, port: Number(port) });
    await expect.poll(async () => JSON.stringify(await agent('tools/list'))).toContain('test_simple_text');
    await check(hub.url, 'page');
    expect(page.complaints).toEqual([]);
  });
});

describe('what the official conformance suite requires of clients', () => {
  it.each(revisions)(
    'passes for a hub that finds out the era, but for authorization: %s',
    { timeout, tags: ['P-355'] },
    async (revision) => {
      const client = fileURLToPath(new URL('../fixtures/conformance-client.mjs', import.meta.url));
      const verdicts = await testClient(`${process.execPath} ${client}`, revision);
      table.push(
        `  as a client ${revision}: ${verdicts.filter(({ failed }) => failed.size === 0).length} of ${verdicts.length}, without auth/*`,
      );
      expect(verdicts.length).toBeGreaterThan(3);
      expect(verdicts.flatMap(({ failed }) => [...failed])).toEqual([]);
    },
  );
});
