// @module-tag deep
// @module-tag P-374

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { askedUrl, createAskingServer } from '../fixtures/servers/asks-server.mjs';
import { type AskedAgent, openOnStdio } from '../support/asked-agent.js';
import { HttpUpstream } from '../support/http-upstream.js';
import { Program } from '../support/program.js';
import type { ServersForTest } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';
import { windowUrlIn } from '../support/window-url.js';

const eras: Era[] = ['legacy', 'modern'];
const startMs = 240_000;
const program = (era: Era) => ({ command: process.execPath, args: [fixtureServer('asks.mjs'), era] });
const servers: ServersForTest = { modern: program('modern'), legacy: { ...program('legacy'), questions: 'serial' }, legacy_http: {} };
let upstream: HttpUpstream;
beforeAll(async () => {
  upstream = await HttpUpstream.serve('sessions', createAskingServer);
  servers.legacy_http = { url: upstream.url };
});
afterAll(() => upstream.stop());

const holders = [
  { where: 'in the process of its agent', args: ['--standalone'] },
  { where: 'in the broker', args: [] },
];
const cases = holders.flatMap(({ where, args }) => eras.map((era) => ({ where, era, args })));

describe.each(cases)('code in a notebook $where that a $era agent runs', ({ era, args }) => {
  let all: AskedAgent;
  let none: AskedAgent;
  beforeAll(async () => {
    const more = [...args, '--notebook', 'local'];
    all = await openOnStdio(servers, { era }, more);
    none = await openOnStdio(servers, { era, capabilities: {} }, more);
  }, startMs);
  afterAll(() => Promise.all([all?.close(), none?.close()]));
  const run = (agent: AskedAgent, ...lines: string[]) => agent.call('run_code', { code: lines.join('\n') });

  it.each(Object.keys(servers))(
    'has the server "%s" ask that agent, who sees the server’s own name',
    { timeout: startMs },
    async (server) => {
      all.asked.length = 0;
      const code = ['form', 'url', 'sample', 'roots', 'twice'].map((tool) => `print(await ${tool}())`);
      const text = await run(all, `from generated.mcp.${server} import form, url, sample, roots, twice`, ...code);
      for (const line of ['accept Ada', 'url accept', 'm: hi', 'file:///ada', 'Ada Ada']) expect(text).toContain(line);
      expect(all.asked).toMatchObject([
        { method: 'elicitation/create', params: { message: `[${server}] Your name?` } },
        { method: 'elicitation/create', params: { mode: 'url', message: `[${server}] Log in.` } },
        { method: 'sampling/createMessage' },
        { method: 'roots/list' },
        { params: { message: `[${server}] First?` } },
        { params: { message: `[${server}] Second?` } },
      ]);
    },
  );

  it('has nobody asked whose agent cannot be: its servers are told so, and say it', { timeout: startMs }, async () => {
    const text = await run(
      none,
      'from generated.mcp.legacy import form, sample',
      'for ask in (form, sample):',
      '    try: print("reached", await ask())',
      '    except Exception as error: print(type(error).__name__, error)',
    );
    expect(text.match(/ToolError/g)).toHaveLength(2);
    expect(text).not.toContain('reached');
  });

  it('has nobody asked by what a cell has left behind when it ended', { timeout: startMs }, async () => {
    all.asked.length = 0;
    await run(
      all,
      'import asyncio',
      'from generated.mcp.legacy import form',
      'begin, done, seen = asyncio.Event(), asyncio.Event(), []',
      'async def later():',
      '    await begin.wait()',
      '    seen.append(await form())',
      '    done.set()',
      'task = asyncio.create_task(later())',
    );
    // The next cell is there while the task of the last one calls.
    expect(await run(all, 'begin.set()', 'await done.wait()', 'print(seen)')).toContain('cancel nobody');
    expect(all.asked).toEqual([]);
    expect(await run(all, 'print(await form())')).toContain('accept Ada');
    expect(all.asked).toHaveLength(1);
  });
});

describe('a question in the middle of a cell', () => {
  it('ends with its call, and the cell with it', { timeout: startMs }, async () => {
    const stop = new AbortController();
    let isTold = false;
    const agent = await openOnStdio(
      servers,
      {
        era: 'legacy',
        answer: (_, signal) => {
          setImmediate(() => stop.abort());
          return new Promise((resolve) => {
            const end = (): void => {
              isTold = true;
              resolve({ action: 'decline' });
            };
            signal.addEventListener('abort', end, { once: true });
          });
        },
      },
      ['--standalone', '--notebook', 'local'],
    );
    const call = agent.call('run_code', { code: 'from generated.mcp.modern import form\nprint(await form())' }, stop.signal);
    await expect(call).rejects.toThrow();
    expect(await agent.call('run_code', { code: 'print("free")' })).toContain('free');
    expect(isTold).toBe(true);
    await agent.close();
  });

  it('does not count for the time for which the agent waits', { timeout: startMs, tags: ['P-341'] }, async () => {
    let answer = (): void => {};
    const agent = await openOnStdio(
      servers,
      {
        era: 'legacy',
        answer: () =>
          new Promise((resolve) => {
            answer = () => resolve({ action: 'accept', content: { name: 'Ada' } });
            // Longer than the call is to wait.
            setTimeout(answer, 6000);
          }),
      },
      ['--standalone', '--notebook', 'local'],
    );
    await agent.call('run_code', { code: 'from generated.mcp.modern import form' });
    const text = await agent.call('run_code', { code: 'print(await form())', wait_seconds: 5 });
    expect(text).toContain('accept Ada');
    expect(text).not.toContain('"running"');
    await agent.close();
  });
});

describe('code in a notebook that a person runs', () => {
  it('has forms and URLs shown in the window, and nothing else asked there', {
    ...drivesBrowser,
    timeout: startMs,
    tags: ['P-376'],
  }, async ({ skip }) => {
    const executablePath = findChromium();
    skip(!executablePath, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-asked-'));
    const config = join(folder, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: servers }));
    const browser = await openChromium();
    const agent = await Program.open({ args: ['--notebook', 'local', '--config', config] });
    try {
      const code = [
        'from generated.mcp.legacy_http import form, sample, url',
        'print(await form())',
        'try: print("reached", await sample())',
        'except Exception as error: print(type(error).__name__)',
        'print(await url())',
      ];
      await agent.callTool('add_code_cell', { cellIndex: 0, language: 'python', code: code.join('\n') });
      const page = await browser.newPage();
      const opened = (await agent.callTool('open_notebook_window')) as { result: { content: [{ text: string }] } };
      await page.goto(windowUrlIn(opened.result.content[0].text));
      await page.getByRole('button', { name: 'Run cell 1' }).click();
      const question = page.getByRole('form', { name: 'legacy_http' });
      await question.getByText('Your name?').waitFor();
      await question.getByRole('textbox').fill('Ann');
      await question.getByRole('button', { name: 'Send' }).click();
      await question.getByText(askedUrl).waitFor();
      await question.getByRole('button', { name: 'Decline' }).click();
      const output = page.locator('.stream-output');
      await output.getByText('url decline').waitFor();
      expect(await output.allTextContents()).toEqual([expect.stringMatching(/^accept Ann\nToolError\nurl decline/)]);
    } finally {
      await browser.close();
      await agent.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
