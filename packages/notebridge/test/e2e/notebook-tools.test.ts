// @module-tag deep

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { drivesBrowser } from '../../../../scripts/tests/drives-browser.mjs';
import { findChromium } from '../../../../scripts/tests/installed-chromium.mjs';
import { openChromium } from '../../../../scripts/tests/open-chromium.mjs';
import { Program, runProgram } from '../support/program.js';
import { returnValues } from '../support/return-values.js';
import { installedServer } from '../support/served-hub.js';
import { fixtureServer, linesOf } from '../support/upstreams.js';
import { windowUrlIn } from '../support/window-url.js';

const node = (file: string, ...args: string[]) => ({ command: process.execPath, args: [fixtureServer(file), ...args] });
const startMs = 240_000;

interface Ran {
  status: string;
  text: string;
  error: string;
  images: number;
  outputs: JsonObject[];
}

/** The built-in notebook of a Notebridge with servers, as an agent sees it. */
class Notebook implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'notebridge-tools-'));
  readonly calls = join(this.folder, 'calls');
  readonly #state = join(this.folder, 'state');
  #program: Program | undefined;

  async open(servers: Record<string, JsonObject>, notebridge: JsonObject = {}): Promise<this> {
    const config = join(this.folder, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: servers, notebridge }));
    const env = { XDG_STATE_HOME: this.#state };
    this.#program = await Program.open({ args: ['--notebook', 'local', '--config', config], env });
    return this;
  }

  get program(): Program {
    if (this.#program === undefined) throw new Error('It is not open.');
    return this.#program;
  }

  /** Runs a cell. */
  async run(...lines: string[]): Promise<Ran> {
    const answer = await this.program.callTool('run_code', { code: lines.join('\n') });
    const content = (answer.result as { content: { type: string; text?: string }[] }).content;
    const { status, outputs } = JSON.parse(content[0]?.text ?? '{}') as { status: string; outputs: JsonObject[] };
    const result = outputs.find(({ output_type }) => output_type === 'execute_result')?.data as JsonObject | undefined;
    const error = outputs.find(({ output_type }) => output_type === 'error');
    return {
      status,
      text: [result?.['text/plain']].flat().join(''),
      error: error === undefined ? '' : `${error.ename}: ${error.evalue}`,
      images: content.filter(({ type }) => type === 'image').length,
      outputs,
    };
  }

  /** A command of the same user. */
  async command(...args: string[]): Promise<string> {
    const { ending, stdout, stderr } = await runProgram(args, { env: { XDG_STATE_HOME: this.#state } });
    if (ending !== 0) throw new Error(stderr);
    return stdout;
  }

  async grants(): Promise<{ id: string; label: string }[]> {
    return (JSON.parse(await this.command('grant', 'list', '--json')) as { grants: { id: string; label: string }[] }).grants;
  }

  audit(): JsonObject[] {
    const text = readFileSync(join(this.#state, 'notebridge', 'audit.jsonl'), 'utf8');
    const lines = text.trim().split('\n');
    return lines.map((line) => JSON.parse(line) as JsonObject);
  }

  async windowUrl(): Promise<string> {
    const answer = await this.program.callTool('open_notebook_window');
    return windowUrlIn((answer as { result: { content: [{ text: string }] } }).result.content[0].text);
  }

  async close(): Promise<void> {
    await this.#program?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe('code in the built-in notebook', () => {
  const notebook = new Notebook();
  beforeAll(async () => {
    writeFileSync(join(notebook.folder, 'seen.txt'), 'a file');
    await notebook.open({
      calls: node('calls.mjs', notebook.calls),
      values: node('values.mjs'),
      changing: node('changing.mjs'),
      filesystem: installedServer('filesystem', [notebook.folder]),
      everything: installedServer('everything'),
      hidden: { ...node('talks.mjs'), expose: 'none' },
    });
  }, startMs);
  afterAll(() => notebook[Symbol.asyncDispose]());

  it('has the bindings without any set-up, and calls a real server', { timeout: startMs, tags: ['P-111'] }, async () => {
    const { text } = await notebook.run(
      'from generated.mcp.filesystem import list_directory',
      `"[FILE] seen.txt" in (await list_directory(path=${JSON.stringify(notebook.folder)}))["content"]`,
    );
    expect(text).toBe('True');
    expect((await notebook.run('import generated', 'sorted(generated.mcp.__all__)')).text).toBe(
      "['calls', 'changing', 'everything', 'filesystem', 'values']",
    );
  });

  it('gets what the tools return, with and without await', async () => {
    const cases = join(notebook.folder, 'cases.json');
    writeFileSync(cases, JSON.stringify(returnValues));
    const ran = await notebook.run(
      'import generated, json',
      'from generated._media import Blocks, Media, ResourceLink',
      `cases = json.loads((await generated.mcp.filesystem.read_text_file(path=${JSON.stringify(cases)}))["content"])`,
      'def as_sent(value):',
      '    if isinstance(value, (Media, ResourceLink)): return [value.block]',
      '    return [getattr(each, "block", each) for each in value] if isinstance(value, Blocks) else value',
      'different = []',
      'for case in cases:',
      '    wanted = repr(json.loads(case["result"]))',
      '    for value in (await generated.call_tool("values__give", {"result": case["given"]}), generated.mcp.values.give.sync(result=case["given"])):',
      '        if repr(as_sent(value)) != wanted: different.append(case["name"])',
      '[len(cases), different]',
    );
    expect(ran).toMatchObject({ error: '', text: `[${returnValues.length}, []]` });
  });

  it('sees an image that a tool gives', { tags: ['P-159'] }, async () => {
    const ran = await notebook.run(
      'from generated.mcp.everything import get_tiny_image',
      'blocks = await get_tiny_image()',
      'next(block for block in blocks if isinstance(block, generated.Image))',
    );
    expect(ran).toMatchObject({ error: '', images: 1 });
  });

  it('hears progress, and makes many calls at once', { tags: ['P-159'] }, async () => {
    const ran = await notebook.run(
      'import asyncio',
      'from generated.mcp.calls import count, steps',
      'told, told_sync = [], []',
      'values = [await steps(on_progress=told.append), steps.sync(on_progress=told_sync.append)]',
      'counted = await asyncio.gather(*(count(n=n) for n in range(200)))',
      '[values, [step.progress for step in told], told == told_sync, counted == [str(n) for n in range(200)]]',
    );
    expect(ran).toMatchObject({ error: '', text: "[['done', 'done'], [1, 2, 3], True, True]" });
  });

  it.each([
    [
      'a tool that fails',
      'await generated.mcp.filesystem.read_text_file(path="/nowhere")',
      /^ToolError: read_text_file \(filesystem\): .*denied/,
    ],
    ['a tool that is not there', 'await generated.call_tool("calls__nothing")', /^ToolError: nothing \(calls\)/],
    ['a server that code may not reach', 'await generated.call_tool("hidden__say")', /^ToolError: .*MCP server 'hidden' is not running/],
    ['a server that dies', 'await generated.mcp.calls.crash()', /^ToolError: crash \(calls\): .*not repeated/],
    ['arguments that are no JSON', 'await generated.mcp.calls.echo(a=object())', /^ToolError: .*cannot be sent as JSON/],
    [
      'a call that takes too long',
      'await generated.mcp.calls.wait(key="slow", timeout=0.2)',
      /^ToolError: wait \(calls\): No answer in time/,
    ],
  ])('is told what went wrong: %s', async (_, code, expected) => {
    const { status, error } = await notebook.run('import generated', code);
    expect(status).toBe('error');
    expect(error).toMatch(expected);
  });

  it.each(['await generated.mcp.calls.wait(key="KEY")', 'generated.mcp.calls.wait.sync(key="KEY")'])(
    'an interrupt of the cell reaches the server: %s',
    async (code) => {
      const key = code.includes('sync') ? 'blocked' : 'awaited';
      const running = notebook.run('import generated', code.replace('KEY', key));
      await vi.waitUntil(() => linesOf(notebook.calls).includes(`wait ${key}`), { timeout: 45_000 });
      await notebook.program.callTool('interrupt_execution');
      expect(await running).toMatchObject({ status: 'interrupted', error: expect.stringContaining('KeyboardInterrupt') });
      await vi.waitUntil(() => linesOf(notebook.calls).includes(`cancelled ${key}`), { timeout: 45_000 });
      expect((await notebook.run('1 + 1')).text).toBe('2');
    },
  );

  it('sees other tools after a reload, when a server changes them', async () => {
    const before = await notebook.run('import generated, importlib', '"only_1" in dir(generated.mcp.changing)');
    expect(before.text).toBe('True');
    await notebook.run('await generated.mcp.changing.become(version="2")');
    await vi.waitUntil(async () => (await notebook.run('"only_2" in dir(importlib.reload(generated).mcp.changing)')).text === 'True', {
      timeout: 45_000,
      interval: 100,
    });
    expect((await notebook.run('await generated.mcp.changing.only_2()')).text).toBe("'2'");
  });

  it('has a grant of its own, under which each call stands in the audit', { tags: ['P-111'] }, async () => {
    const [grant, ...others] = await notebook.grants();
    expect(others).toEqual([]);
    expect(grant?.label).toBe('the built-in notebook');
    await vi.waitUntil(() => notebook.audit().some(({ tool }) => tool === 'only_2'), { timeout: 45_000 });
    const lines = notebook.audit().filter(({ server, event }) => server !== 'notebook' && event === undefined);
    expect(new Set(lines.map(({ principal, grant_id }) => `${principal} ${grant_id}`))).toEqual(new Set([`grant ${grant?.id}`]));
    expect(lines).toContainEqual(expect.objectContaining({ server: 'filesystem', tool: 'list_directory', outcome: 'ok' }));
    expect(lines).toContainEqual(expect.objectContaining({ server: 'calls', tool: 'wait', outcome: 'cancelled' }));
  });

  it('shows it in the window, where a person takes it away and gives it back', {
    ...drivesBrowser,
    timeout: startMs,
    tags: ['P-111'],
  }, async ({ skip }) => {
    const executablePath = findChromium();
    skip(!executablePath, 'no Chromium on this machine, and NOTEBRIDGE_SKIP_BROWSER is set');
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      await page.goto(await notebook.windowUrl());
      await page.getByRole('button', { name: 'Tools: calls, values, changing, filesystem, everything' }).click();
      const [grant] = await notebook.grants();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(grant?.id ?? 'no grant').waitFor();
      await dialog.getByRole('switch').click();
      await dialog.getByText('was taken away').waitFor();
      expect(await notebook.grants()).toEqual([]);
      const refused = await notebook.run('await generated.mcp.calls.echo(a=1)');
      expect(refused.error).toMatch(/^ToolError: echo \(calls\): The grant g_\w+, .* was taken away\. A person can switch it on again/);
      await dialog.getByRole('switch').click();
      await dialog.getByText('which ends with this notebook').waitFor();
      expect((await notebook.grants()).map(({ id }) => id)).not.toContain(grant?.id);
      expect((await notebook.run('await generated.mcp.calls.echo(a=1)')).text).toBe("{'a': 1}");
    } finally {
      await browser.close();
    }
  });

  it('is refused once the grant is revoked by the command', async () => {
    const [grant] = await notebook.grants();
    await notebook.command('grant', 'revoke', grant?.id ?? '');
    await vi.waitUntil(async () => (await notebook.run('await generated.mcp.calls.echo(a=1)')).error.includes('was taken away'), {
      timeout: 45_000,
    });
    await vi.waitUntil(() => notebook.audit().some(({ grant_id, outcome }) => grant_id === grant?.id && outcome === 'bad_grant'), {
      timeout: 45_000,
    });
  });
});

describe('the grant of the built-in notebook', () => {
  it('ends with it', { timeout: startMs }, async () => {
    await using notebook = await new Notebook().open({ values: node('values.mjs') });
    expect(await notebook.grants()).toEqual([]);
    await notebook.run('import generated');
    expect(await notebook.grants()).toHaveLength(1);
    await notebook.close();
    expect(await notebook.grants()).toEqual([]);
  });

  it('holds also where nothing is taken down', { timeout: startMs }, async () => {
    await using notebook = await new Notebook().open({ calls: node('calls.mjs', '/dev/null') }, { audit: false });
    expect((await notebook.run('import generated', 'await generated.mcp.calls.echo(a=1)')).text).toBe("{'a': 1}");
    const [grant] = await notebook.grants();
    await notebook.command('grant', 'revoke', grant?.id ?? '');
    await vi.waitUntil(async () => (await notebook.run('await generated.mcp.calls.echo(a=1)')).error.includes('was taken away'), {
      timeout: 45_000,
    });
  });

  it('is not there where nothing is configured, and neither are the bindings', { timeout: startMs }, async () => {
    await using notebook = await new Notebook().open({});
    expect((await notebook.run('import generated')).error).toBe("ModuleNotFoundError: No module named 'generated'");
    expect(await notebook.grants()).toEqual([]);
  });
});
