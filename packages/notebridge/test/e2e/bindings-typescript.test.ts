// @module-tag deep

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { bareEnvironment } from '../support/bare-environment.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { typeFaults } from '../support/type-check.js';
import { fixtureServer } from '../support/upstreams.js';
import { Watching } from '../support/watching.js';

let folder: string;
let hub: ServedHub;
let pages: Awaited<ReturnType<typeof servePages>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-typescript-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'hello.txt'), 'hello\n');
  const servers = {
    everything: installedServer('everything'),
    fs: installedServer('filesystem', [folder]),
    memory: installedServer('memory', [], { env: { MEMORY_FILE_PATH: join(folder, 'memory.json') } }),
    values: { command: process.execPath, args: [fixtureServer('values.mjs')] },
    calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] },
  };
  pages = await servePages();
  hub = await ServedHub.start({ servers, args: ['--notebook', 'none', '--allow-origin', pages.url] });
  const { ending, stderr } = await hub.run('generate', '--lang', 'typescript', '--out', join(folder, 'generated'));
  expect(ending, stderr).toBe(0);
});
afterAll(async () => {
  pages.close();
  await hub[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a module beside the package in Node; what it prints. */
async function run(code: string, env: Record<string, string> = {}): Promise<string> {
  const file = join(folder, `run-${Math.random().toString(36).slice(2)}.js`);
  writeFileSync(file, code);
  await using process_ = new Watching(process.execPath, [file], { env: { ...bareEnvironment(), ...env }, cwd: folder });
  const ending = await process_.ended;
  if (ending !== 0) throw new Error(`${ending}: ${process_.stderr}`);
  return process_.stdout.trim();
}
const asOwner = (): Record<string, string> => ({ NOTEBRIDGE_TOKEN: hub.ownerToken });

describe('TypeScript bindings of real servers', () => {
  it('compile with tsc --strict, and so does code that uses them', { tags: ['P-093'] }, () => {
    writeFileSync(
      join(folder, 'use.ts'),
      `import { mcp, type Media } from './generated/index.js';
       import { list_directory, edit_file } from './generated/mcp/fs.js';
       import { create_entities } from './generated/mcp/memory.js';
       const image = await mcp.everything.get_tiny_image<(string | Media)[]>();
       const { temperature }: { temperature: number } = await mcp.everything.get_structured_content({ location: 'New York' });
       await edit_file({ path: 'x', edits: [{ oldText: 'a', newText: 'b' }], dryRun: true });
       const { entities } = await create_entities({ entities: [{ name: 'a', entityType: 'b', observations: ['c'] }] });
       export const all = [image, temperature, entities[0]?.name, await list_directory({ path: '.' })];`,
    );
    expect(typeFaults([join(folder, 'use.ts')])).toEqual([]);
    writeFileSync(
      join(folder, 'wrong.ts'),
      `import { mcp } from './generated/index.js';\nexport const x = mcp.everything.get_structured_content({ location: 'Oslo' });`,
    );
    expect(typeFaults([join(folder, 'wrong.ts')])).toHaveLength(1);
  });

  it('call tools from Node, with values as the server gave them, images as bytes, and the whole result in raw', {
    tags: ['P-093'],
  }, async () => {
    const printed = await run(
      `import { mcp } from './generated/index.js';
       import { echo } from './generated/mcp/everything.js';
       const image = (await mcp.everything.get_tiny_image()).find((each) => each.type === 'image');
       const raw = await mcp.everything.get_structured_content.raw({ location: 'Chicago' });
       const give = (result) => mcp.values.give({ result: JSON.stringify(result) });
       give.raw = async (result) => {
         const { value, content, structured } = await mcp.values.give.raw({ result: JSON.stringify(result) });
         return [value, content, structured ?? 'none'];
       };
       console.log(JSON.stringify([
         await echo({ message: 'größe' }),
         [image.mimeType, image.data instanceof Uint8Array, [...image.data.subarray(1, 4)]],
         [typeof raw.value.temperature, raw.content[0].type, typeof raw.callId, raw.structured === raw.value],
         await give({ content: [], structuredContent: { result: ['1'] } }),
         await give.raw({ content: [] }),
         await give.raw({ content: [], structuredContent: { result: [] } }),
         await give({ content: [{ type: 'text', text: 'true' }] }),
         await give({ content: [] }),
         (await give({ content: [{ type: 'image', data: 'AAEC', mimeType: 'image/png' }] })).data.length,
         (await give({ content: [{ type: 'resource', resource: { uri: 'x://y', blob: 'AAEC' } }] })).uri,
         (await mcp.fs.read_text_file({ path: ${JSON.stringify(join(folder, 'hello.txt'))} })).content,
       ]));`,
      asOwner(),
    );
    expect(JSON.parse(printed)).toEqual([
      'Echo: größe',
      ['image/png', true, [80, 78, 71]],
      ['number', 'text', 'string', true],
      ['1'],
      [[], [], 'none'],
      [[], [{ type: 'text', text: '[]' }], []],
      'true',
      [],
      3,
      'x://y',
      'hello\n',
    ]);
  });

  it('find the hub of the user by themselves, and without one say what to do', async () => {
    const { HOME = '', XDG_STATE_HOME = '' } = hub.env;
    const code = `import { echo } from './generated/mcp/everything.js'; try { console.log(await echo({ message: 'hi' })); } catch (error) { console.log(error.code, error.message); }`;
    expect(await run(code, { HOME, XDG_STATE_HOME })).toBe('Echo: hi');
    expect(await run(code, { HOME: folder })).toMatch(
      /^bad_grant echo \(everything\): .*No token was sent: none was found\. Issue a grant/,
    );
    // Nothing listens there, and fetch does not refuse it as a bad port.
    expect(await run(code, { ...asOwner(), NOTEBRIDGE_URL: 'http://127.0.0.1:2' })).toMatch(
      /^hub_unreachable .*ECONNREFUSED.*notebridge serve/,
    );
    expect(await run(code, { ...asOwner(), NOTEBRIDGE_URL: 'nonsense' })).toMatch(
      /^bad_url The hub's address "nonsense" \(from NOTEBRIDGE_URL\)/,
    );
    expect(await run(code, { NOTEBRIDGE_TOKEN_FILE: '/no/such/file' })).toMatch(/^bad_grant Cannot read the token file/);
  });

  it('show the token of the owner to nobody but the hub', { tags: ['P-092'] }, async () => {
    const heard: string[] = [];
    const stranger = createServer((request, response) => {
      heard.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      response.setHeader('content-type', 'application/json').end('{"status":"ok","proof":"guessed"}');
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void stranger.close());
    const { port } = stranger.address() as AddressInfo;
    const state = join(folder, 'state', 'notebridge');
    const code = `import { mkdirSync, writeFileSync } from 'node:fs';
      mkdirSync(${JSON.stringify(state)}, { recursive: true, mode: 0o700 });
      writeFileSync('${state}/hub.json', JSON.stringify({ url: 'http://127.0.0.1:${port}', pid: process.pid }), { mode: 0o600 });
      writeFileSync('${state}/owner-token', '${hub.ownerToken}', { mode: 0o600 });
      const { callTool, configure } = await import('./generated/index.js');
      configure({ url: 'http://localhost:${port}' });
      try { await callTool('everything', 'echo', {}); } catch (error) { console.log(error.code); }`;
    expect(await run(code, { XDG_STATE_HOME: join(folder, 'state') })).toBe('not_own_hub');
    expect(heard).toEqual([expect.stringMatching(/^GET \/healthz\?challenge=.* undefined$/)]);
  });

  it('reject with ToolError, which says what happened', async () => {
    const printed = await run(
      `import { callTool, ToolError } from './generated/index.js';
       import { read_text_file } from './generated/mcp/fs.js';
       const told = async (calling) => { try { return await calling; } catch (error) { return [error instanceof ToolError, error.code, error.server, error.tool, error.message, error.content.length]; } };
       console.log(JSON.stringify([
         await told(read_text_file({ path: '/etc/passwd' })),
         await told(callTool('fs', 'no_such_tool')),
         await told(callTool('nobody', 'x')),
         await told(read_text_file('path')),
         await told(read_text_file({ path: 1n })),
       ]));`,
      asOwner(),
    );
    const [denied, noTool, noServer, noObject, noJson] = JSON.parse(printed) as unknown[][];
    expect(denied).toEqual([true, 'tool_failed', 'fs', 'read_text_file', expect.stringContaining('Access denied'), 1]);
    expect(noTool?.slice(0, 4)).toEqual([true, 'tool_not_found', 'fs', 'no_such_tool']);
    expect(noServer?.slice(0, 3)).toEqual([true, 'unknown_server', 'nobody']);
    expect(noObject?.slice(0, 2)).toEqual([true, 'invalid_arguments']);
    expect(noJson?.slice(0, 2)).toEqual([true, 'invalid_arguments']);
  });

  it('report progress, and cancel the call at the server when the signal says so or the time is over', async () => {
    const printed = await run(
      `import { trigger_long_running_operation as long } from './generated/mcp/everything.js';
       const heard = [];
       await long({ duration: 0.3, steps: 3 }, { onProgress: ({ progress, total }) => heard.push([progress, total]) });
       const ending = new AbortController();
       const aborted = await long({ duration: 60, steps: 600 }, { signal: ending.signal, onProgress: () => ending.abort(new Error('enough')) }).catch((error) => error.message);
       const late = await long({ duration: 60, steps: 1 }, { timeoutMs: 300 }).catch((error) => error.code);
       const before = await long({ duration: 60, steps: 1 }, { signal: AbortSignal.abort(new Error('never')) }).catch((error) => error.message);
       console.log(JSON.stringify({ heard, aborted, late, before }));`,
      asOwner(),
    );
    expect(JSON.parse(printed)).toEqual({
      heard: [
        [1, 3],
        [2, 3],
        [3, 3],
      ],
      aborted: 'enough',
      late: 'timeout',
      before: 'never',
    });
    // Nothing runs on at the server.
    await expect.poll(async () => (await hub.run('servers', '--json')).stdout).toMatch(/"name":"everything"[^}]*"in_flight":0/);
  });
});

it('are imported by a page in Chromium, from an origin that the hub allows', { ...drivesBrowser, tags: ['P-093'] }, async ({ skip }) => {
  const executablePath = findChromium();
  skip(executablePath === undefined, 'there is no Chromium on this machine');
  const browser = await openChromium();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${pages.url}/generated/`);
  // As text: the import is the browser's own.
  const seen = await page.evaluate(`(async () => {
    const { configure } = await import('/generated/index.js');
    const { echo, get_tiny_image } = await import('/generated/mcp/everything.js');
    const alone = await echo({ message: 'no' }).catch((error) => error.code);
    configure({ url: ${JSON.stringify(hub.url)}, token: ${JSON.stringify(hub.ownerToken)} });
    const image = (await get_tiny_image()).find((each) => each.type === 'image');
    return [alone, await echo({ message: 'from a page' }), image.data.length > 100];
  })()`);
  expect(seen).toEqual(['bad_grant', 'Echo: from a page', true]);
});

/** A web server of the folder, as a page's own. */
function servePages(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const path = join(folder, (request.url ?? '/').split('?')[0] ?? '');
    const isModule = path.endsWith('.js');
    response.setHeader('content-type', isModule ? 'text/javascript' : 'text/html');
    response.end(isModule && existsSync(path) ? readFileSync(path) : '<!doctype html><title>page</title>');
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${port}`, close: () => server.close() });
    });
  });
}
