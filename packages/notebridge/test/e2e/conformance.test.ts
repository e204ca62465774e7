import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { McpServer } from '@modelcontextprotocol/server';
import type { JsonObject } from '@notebridge/kit/json';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { conformanceSuite } from '../../../../scripts/conformance-suite.mjs';
import { createConformanceServer } from '../fixtures/servers/conformance-server.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { type Revision, revisions, testClient, testServer, type Verdict } from '../support/conformance.js';
import { openModernAgent } from '../support/http-agent.js';
import { openPageTransport } from '../support/page-transport.js';
import { ServedHub, type ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const timeout = 180_000;
const program = fixtureServer('conformance.mjs');
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
afterAll(() => console.info(['what the conformance suite requires, and what passed:', ...table].join('\n')));

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

const serve = (servers: ServersForTest, port = 0): Promise<ServedHub> =>
  ServedHub.start({ servers, port, args: ['--notebook', 'none', '--no-auth'] });

/** The server under test over HTTP, in a process of its own. */
async function startUpstream(port = 0): Promise<{ url: string; kill: () => Promise<void> }> {
  const child: ChildProcess = spawn(process.execPath, [program, String(port)], {
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(kill);
  const [url] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { url: String(url).trim(), kill };
}

describe.sequential('what the official conformance suite requires', () => {
  it('passes at the server under test alone', { timeout }, async () => {
    const { url } = await startUpstream();
    await check(url, 'alone');
  });

  it('passes through a hub before a server on stdio, also after that or the hub was killed', { timeout }, async () => {
    const servers = { it: { command: process.execPath, args: [program], names: 'plain' } };
    const hub = await serve(servers);
    onTestFinished(() => hub[Symbol.asyncDispose]());
    await check(hub.url, 'stdio');
    const report = async (): Promise<JsonObject | undefined> => {
      const answer = await hub.request('/api/v1/hub/servers', { token: hub.ownerToken });
      return ((await answer.json()) as { servers: JsonObject[] }).servers[0];
    };
    const pid = Number((await report())?.pid);
    process.kill(pid, 'SIGKILL');
    await expect.poll(async () => Number((await report())?.pid ?? pid)).not.toBe(pid);
    await check(hub.url, 'stdio', ', its server killed');
    await hub.stop('SIGKILL');
    await using again = await serve(servers, hub.port);
    await check(again.url, 'stdio', ', the hub killed');
  });

  it('passes through a hub before a server over HTTP, also after that or the hub was killed', { timeout }, async () => {
    const upstream = await startUpstream();
    const servers = { it: { url: upstream.url, names: 'plain' } };
    const hub = await serve(servers);
    onTestFinished(() => hub[Symbol.asyncDispose]());
    await check(hub.url, 'http');
    await upstream.kill();
    await startUpstream(Number(new URL(upstream.url).port));
    await check(hub.url, 'http', ', its server killed');
    await hub.stop('SIGKILL');
    await using again = await serve(servers, hub.port);
    await check(again.url, 'http', ', the hub killed');
  });

  it('passes through a hub that a page is connected to, but for what a legacy page cannot do', { timeout }, async () => {
    await using hub = await ServedHub.start({ args: ['--notebook', 'colab', '--no-browser', '--no-auth'] });
    const agent = openModernAgent(hub, () => undefined);
    const opened = JSON.stringify(await agent('tools/call', { name: 'open_colab_browser_connection', arguments: { wait_seconds: 0 } }));
    const [, token = '', port = ''] = /mcpProxyToken=([^&]+)&mcpProxyPort=(\d+)/.exec(opened) ?? [];
    const page: McpServer = createConformanceServer({
      tools: () => page.sendToolListChanged(),
      prompts: () => page.sendPromptListChanged(),
    });
    onTestFinished(() => page.close());
    await page.connect(openPageTransport({ port: Number(port), token }));
    await expect.poll(async () => JSON.stringify(await agent('tools/list'))).toContain('test_simple_text');
    await check(hub.url, 'page');
  });
});

describe('what the official conformance suite requires of clients', () => {
  it.each(revisions)('passes for a hub that finds out the era, but for authorization: %s', { timeout }, async (revision) => {
    const client = fileURLToPath(new URL('../fixtures/conformance-client.mjs', import.meta.url));
    const verdicts = await testClient(`${process.execPath} ${client}`, revision);
    table.push(
      `  as a client ${revision}: ${verdicts.filter(({ failed }) => failed.size === 0).length} of ${verdicts.length}, without auth/*`,
    );
    expect(verdicts.length).toBeGreaterThan(3);
    expect(verdicts.flatMap(({ failed }) => [...failed])).toEqual([]);
  });
});
