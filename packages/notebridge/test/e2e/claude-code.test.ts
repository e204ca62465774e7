// @module-tag deep
// @module-tag P-743

/** Claude Code itself, from npm, in a home of its own, with a model on loopback that does what a script says. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '@notebridge/protocol/json';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { lockedPackages } from '../../../../scripts/locked-packages.mjs';
import { untilBrokerEnded } from '../support/broker.js';
import { createHome, programFile, runProgram } from '../support/program.js';
import { type ModelTurn, ScriptedModel } from '../support/scripted-model.js';

const timeout = 300_000;
let claude: string;

beforeAll(async () => {
  const { modules } = await lockedPackages('claude-code');
  claude = join(modules, '@anthropic-ai', `claude-code-${process.platform}-${process.arch}`, 'claude');
}, timeout);
beforeEach(({ skip }) => skip(!existsSync(claude), `Claude Code has no build for ${process.platform} on ${process.arch}`));

/** One prompt, and what the model was asked and answered in its course. */
async function prompt(turns: readonly ModelTurn[]): Promise<{ model: ScriptedModel; said: string; notebook: string }> {
  const { home, env } = createHome();
  try {
    await using model = await ScriptedModel.start(turns);
    const file = join(home, 'sums.ipynb');
    writeFileSync(file, JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: [] }));
    const config = join(home, 'servers.json');
    const args = [programFile, 'stdio', '--notebook', file];
    writeFileSync(config, JSON.stringify({ mcpServers: { notebridge: { command: process.execPath, args, env } } }));
    // With servers of its own files it begins its first turn while they start.
    const words = ['-p', 'Add up in my notebook.', '--mcp-config', config, '--strict-mcp-config', '--allowedTools', 'mcp__notebridge'];
    const own = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', TMPDIR: home };
    const running = promisify(execFile)(claude, words, { cwd: home, env: { ...env, ...own }, timeout });
    running.child.stdin?.end();
    const { stdout } = await running;
    await untilBrokerEnded(join(home, 'state'));
    return { model, said: stdout.trim(), notebook: readFileSync(file, 'utf8') };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

it('starts what setup has written for each of two projects', { timeout, tags: ['P-746'] }, async () => {
  const { home, env } = createHome();
  try {
    for (const name of ['one', 'two']) {
      const cwd = join(home, name);
      mkdirSync(join(cwd, '.git'), { recursive: true });
      await runProgram(['setup', 'claude-code', '--notebook', `${name}.ipynb`, '--write'], { env, cwd });
    }
    for (const name of ['one', 'two']) {
      const { stdout } = await promisify(execFile)(claude, ['mcp', 'list'], {
        cwd: join(home, name),
        env: { ...env, TMPDIR: home },
        timeout,
      });
      expect(stdout).toMatch(new RegExp(`^notebridge: node .*/${name}\\.ipynb - .*Connected`, 'm'));
    }
    await untilBrokerEnded(join(home, 'state'));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

const ofOurs = (name: unknown): string[] => (typeof name === 'string' && name.startsWith(prefix) ? [name.slice(prefix.length)] : []);
const prefix = 'mcp__notebridge__';

it('has the tools where an agent begins in its first turn', { timeout }, async () => {
  const { model } = await prompt([]);
  const [{ tools = [], messages } = {}] = model.requests;
  expect(JSON.stringify(messages)).toContain('First call: get_notebook_info.');
  const loaded = tools.filter(({ defer_loading: isLater }) => isLater !== true);
  expect(loaded.flatMap(({ name }) => ofOurs(name)).sort()).toEqual([
    'add_code_cell',
    'connect_notebook',
    'get_cells',
    'get_notebook_info',
    'get_output',
    'run_code',
    'run_code_cell',
    'update_cell',
  ]);
});

/** Words of people, and the tool that is among the five that the host's own search finds for them. */
const phrases = [
  ['restart the kernel', 'restart_kernel'],
  ['undo what I did', 'undo_last_change'],
  ['which notebooks are open', 'list_notebooks'],
  ['stop a cell that runs forever', 'interrupt_run'],
  ['interrupt', 'interrupt_run'],
  ['delete a cell', 'delete_cell'],
  ['move a cell up', 'move_cell'],
  ['add a markdown cell', 'add_text_cell'],
  ['write text in the notebook', 'add_text_cell'],
  ['take over the notebook', 'take_over'],
  ['show me the notebook in the browser', 'open_notebook_window'],
  ['is my cell still running', 'get_run'],
  ['progress of a long run', 'get_run'],
  ['list runs', 'list_runs'],
  ['leave this notebook', 'disconnect_notebook'],
] as const;

it('finds the others by the words of people', { timeout }, async () => {
  const { model } = await prompt(phrases.map(([query]) => ({ tool: 'ToolSearch', input: { query, max_results: 5 } })));
  const found = model.results.map(({ content }) => (content as JsonObject[]).flatMap(({ tool_name: name }) => ofOurs(name)));
  expect(found).toEqual(phrases.map(([, tool]) => expect.arrayContaining([tool])));
});

it('adds a cell, runs code, and reads what came and what failed', { timeout }, async () => {
  const tool = (name: string, input = {}): ModelTurn => ({ tool: `${prefix}${name}`, input });
  const { model, said, notebook } = await prompt([
    tool('add_code_cell', { cellIndex: '0', language: 'python', code: 'print(6 * 7)' }),
    tool('get_cells'),
    tool('run_code', { code: '1 / 0' }),
    'It is 42.',
  ]);
  expect(said).toBe('It is 42.');
  expect(model.results.map((result) => JSON.stringify(result))).toEqual([
    expect.stringContaining('newCellId'),
    expect.stringContaining('print(6 * 7)'),
    expect.stringContaining('ZeroDivisionError'),
  ]);
  expect(notebook).toContain('print(6 * 7)');
});
