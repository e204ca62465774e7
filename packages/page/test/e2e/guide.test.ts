// @module-tag deep

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { snippetsOf } from '../../../../scripts/docs-snippets.mjs';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { Program } from '../../../notebridge/test/support/program.js';
import { within } from '../support/bounded.js';
import { ExamplePage, hasChromium } from '../support/browser.js';

const guide = fileURLToPath(new URL('../../../../docs/your-own-page.md', import.meta.url));
const snippet = (name: string): string => snippetsOf(guide).find(({ runs }) => runs === name)?.code ?? expect.fail(`no snippet "${name}"`);

let example: ExamplePage | undefined;
let program: Program | undefined;

afterEach(async () => {
  await example?.[Symbol.asyncDispose]();
  await program?.close();
});

it('the page of 20 lines works as the guide says', drivesBrowser, async ({ skip }) => {
  skip(!hasChromium, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
  const html = snippet('own-page');
  const script = /<script type="module">\n(.*)\n<\/script>/s.exec(html)?.[1] ?? '';
  expect(script.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(20);
  // The example's server has a policy against inline scripts, which the guide's page needs none of.
  const linked = html.replace(script, '').replace('type="module"', 'type="module" src="./page.js"');
  example = await ExamplePage.launch({ replaced: { '/': linked, '/page.js': script } });

  const { command, args } = JSON.parse(snippet('own-page-host')).mcpServers.notebridge as { command: string; args: string[] };
  expect(command).toBe('notebridge');
  const ours = args.map((arg) => arg.replace('http://localhost:5173', example?.origin ?? ''));
  program = await Program.open({ args: ours });
  const answer = await program.callTool('open_colab_browser_connection', { notebook_url: `${example.origin}/`, wait_seconds: 0 });
  const [url = ''] = /http:\/\/localhost:\d+\/#mcpProxyToken=[\w-]+&mcpProxyPort=\d+/.exec(JSON.stringify(answer)) ?? [];

  await example.page.goto(url);
  await example.button('Allow').click();
  await example.says('Connected to notebridge');
  await program.notification('notifications/tools/list_changed');
  expect(await program.callTool('add_todo', { text: 'Water the plants' })).toMatchObject({ result: { content: [] } });
  expect(await program.callTool('add_todo', { text: '' })).toMatchObject({ result: { isError: true } });
  expect(await program.callTool('read_todos')).toMatchObject({ result: { structuredContent: { todos: ['Water the plants'] } } });
  await example.page.getByText('Water the plants').waitFor();
});

it('the drawing board is served as the guide says', async () => {
  const [, file = ''] = /`node (examples\/[^`]+)`/.exec(readFileSync(guide, 'utf8')) ?? [];
  const server = spawn(process.execPath, [fileURLToPath(new URL(`../../../../${file}`, import.meta.url)), '0']);
  try {
    const [said] = await within('its first words', once(server.stdout.setEncoding('utf8'), 'data'));
    const [, origin = ''] = /(http:\/\/localhost:\d+)\//.exec(said) ?? [];
    for (const path of ['/', '/page.css', '/board.js', '/page.js', '/page.min.js']) expect(await statusOf(origin + path), path).toBe(200);
    for (const path of ['/serve.mjs', '/../package.json', '/toString']) expect(await statusOf(origin + path), path).toBe(404);
    expect(said).toContain(`notebridge --allow-origin ${origin}\n`);
  } finally {
    server.kill();
  }
});

/** The body is read as well: a connection that brings one that nobody reads is never let go. */
async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}
