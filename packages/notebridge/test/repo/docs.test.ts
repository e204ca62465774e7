// @module-tag deep
import { type ExecFileOptions, execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { natsPackages } from '@notebridge/cluster/nats/connect-nats';
import { createSkillsServer } from '@notebridge/code-mode/skills/skills-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snippetsOf } from '../../../../scripts/docs-snippets.mjs';
import { pythonWith } from '../../../../scripts/python-env.mjs';
import { type Config, defaultConfig } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load-config.js';
import { bareEnvironment } from '../support/bare-environment.js';
import { BindingsGuide } from '../support/bindings-guide.js';
import { clusterRuns } from '../support/cluster-guide.js';
import { codeModeRuns } from '../support/code-mode-guide.js';
import { createContext } from '../support/create-context.js';
import { elsewhereRuns } from '../support/elsewhere-guide.js';
import { withCommand } from '../support/installed-command.js';
import { knownKeysAt } from '../support/known-keys.js';
import { operatingRuns } from '../support/operating-guide.js';
import { Program } from '../support/program.js';
import { RawPage } from '../support/raw-page.js';
import { recordingRuns } from '../support/recording-guide.js';
import { installedServer, ServedHub } from '../support/served-hub.js';
import { windowFileIn, windowUrlIn } from '../support/window-url.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'deploy/README.md',
  'packages/notebridge/README.md',
  'packages/notebook/README.md',
  'packages/page/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((file) => `docs/${file}`),
].filter((file) => file.endsWith('.md'));
const snippets = pages.flatMap((page) => snippetsOf(join(root, page)).map((snippet) => ({ ...snippet, page })));
const run = (file: string, args: string[], options: ExecFileOptions = {}) =>
  promisify(execFile)(file, args, { encoding: 'utf8', ...options });

let folder = '';
let guide: BindingsGuide;
let cluster: ReturnType<typeof clusterRuns>;
beforeAll(() => {
  // Inside the checkout, so that a snippet finds the package by its name.
  const cache = join(root, '.cache');
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'docs-'));
  guide = new BindingsGuide(folder);
  cluster = clusterRuns(folder);
});
afterAll(async () => {
  await guide[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
};

function configOf(code: string, env: Record<string, string> = {}): Promise<Config> {
  const file = join(folder, 'config.json');
  writeFileSync(file, code);
  return loadConfig({ file, env });
}

/** A shell of a reader who has installed the command, with a home of its own. */
const shell = (code: string, env: Record<string, string> = { ...bareEnvironment(), HOME: folder }) =>
  run('bash', ['--norc', '-euc', code], { cwd: folder, env: withCommand(env, folder) });

/** What is done with the snippets of each name. */
const runs: Record<string, (code: string) => Promise<void>> = {
  /** test/e2e/demo.test.ts runs what the command runs. */
  async demo(code) {
    expect(code).toBe('npm run demo');
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    // The one build that notes what it was made of: after that of the install, the demo does not build again.
    expect([scripts.demo, scripts.build]).toEqual(['node scripts/demo.mjs', 'node scripts/build.mjs']);
  },
  /** Its first part is how this test came to run; the second has a prefix of its own here, and needs no network. */
  async install(code) {
    const [first, second = ''] = code.replace(/ +#.*/, '').split(/(?<=build) && /);
    expect(first).toBe('npm install && npm run build');
    expect(second).toMatch(/^npm install --global /);
    const env = { ...bareEnvironment(), HOME: folder, npm_config_offline: 'true' };
    await run('bash', ['--norc', '-euc', `${second} --prefix "${folder}/.local"`], { cwd: root, env });
    const { stdout } = await run(join(folder, '.local/bin/notebridge'), ['--version'], { cwd: folder, env });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  },
  /** test/e2e/setup-hosts.test.ts starts what is written. In a project with an environment of its own. */
  async setup(code) {
    const project = mkdtempSync(join(folder, 'project-'));
    symlinkSync(dirname(dirname(await pythonWith(['ipykernel']))), join(project, '.venv'));
    for (const line of code.split('\n')) {
      const command = line.replace(/ +#.*/, '');
      const { stdout } = await shell(`cd '${project}' && ${command} --write --json`);
      const { file, project: root = '', notebook, kernel } = JSON.parse(String(stdout)) as Record<string, string>;
      const { args } = JSON.parse(readFileSync(file ?? '', 'utf8')).projects[root].mcpServers.notebridge as { args: string[] };
      expect(command.includes('--notebook')).toBe(notebook !== undefined && args.includes(notebook));
      expect(command.includes('--kernel')).toBe(kernel !== undefined && args.includes(kernel));
      rmSync(file ?? '');
    }
  },
  async 'setup-url'(code) {
    await using hub = await ServedHub.start({ args: ['--notebook', 'none'] });
    const { stdout } = await shell(`${code}\necho "token: $NOTEBRIDGE_AGENT_TOKEN"`, hub.env);
    expect(stdout).toContain('Added "notebridge" to');
    expect(stdout).toMatch(/^token: nbg_\S+$/m);
  },
  async library(code) {
    const file = join(folder, 'library.mjs');
    writeFileSync(file, code);
    const child = run(process.execPath, [file]);
    child.child.stdin?.end(`${JSON.stringify(initialize)}\n${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`);
    const { stdout } = await child;
    expect(stdout).toContain('"name":"my-bridge"');
    expect(stdout).toContain('"name":"run_code_cell"');
  },
  async 'tools-library'(code) {
    const file = join(folder, 'tools-library.mjs');
    writeFileSync(file, code);
    expect((await run(process.execPath, [file])).stdout).toBe('3\n');
  },
  async middleware(code) {
    writeFileSync(join(folder, 'log-calls.mjs'), code);
  },
  /** Runs after the snippet above it, and proves both. */
  async 'middleware-config'(code) {
    const config = join(folder, 'mcp.json');
    writeFileSync(config, code);
    await using program = await Program.open({ args: ['--config', config] });
    const answer = () => ({ result: { content: [] } });
    await using _page = await RawPage.serve({
      ...(await program.address()),
      answer: ({ method }) => (method === 'tools/call' ? answer() : undefined),
    });
    expect(await program.callTool('get_cells')).toMatchObject({ result: { _meta: { 'example.com/ms': expect.any(Number) } } });
    expect(program.stderr).toMatch(/get_cells took \d+ ms/);
  },
  async typescript(code) {
    const file = join(folder, 'snippet.ts');
    writeFileSync(file, code);
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
    await run(process.execPath, [join(root, 'node_modules/@typescript/native/bin/tsc'), ...options, file], { cwd: dirname(file) });
  },
  async 'config-telemetry'(code) {
    const { telemetry } = await configOf(code, { OTLP_KEY: 'k' });
    expect(telemetry.otlp).toMatchObject({ headers: { Authorization: 'Bearer k' }, traces: true, sampleRatio: 0.1, intervalMs: 10_000 });
    for (const key of knownKeysAt(['notebridge', 'telemetry', 'otlp'])) expect(code).toContain(`"${key}":`);
  },
  async 'config-cluster'(code) {
    const { cluster } = await configOf(code);
    expect(cluster).toMatchObject({ credentials: join(folder, 'hub.creds'), tls: { ca: join(folder, 'ca.pem') }, audit: { maxDays: 30 } });
    expect(readFileSync(join(root, 'docs/config.md'), 'utf8')).toContain(`\`npm install ${natsPackages.join(' ')}\``);
    const keys = [['cluster'], ['cluster', 'tls'], ['cluster', 'audit']].flatMap((path) => knownKeysAt(['notebridge', ...path]));
    for (const key of keys) expect(code).toContain(`"${key}":`);
  },
  async 'config-defaults'(code) {
    const { file: _, ...config } = await configOf(code);
    const { file: _none, ...defaults } = defaultConfig(folder);
    expect(config).toEqual(defaults);
    for (const key of [...knownKeysAt(['notebridge']), ...knownKeysAt(['notebridge', 'limits'])]) expect(code).toContain(`"${key}":`);
  },
  async 'config-auth'(code) {
    expect((await configOf(code)).auth).toMatchObject({
      issuer: 'https://login.example',
      scopes: [{ readOnly: false }, { readOnly: true }],
    });
  },
  async 'config-remote'(code) {
    const { servers } = await configOf(code);
    expect(servers).toMatchObject([
      { name: 'tracker', transport: 'http', auth: { grant: 'authorization_code', redirectPort: 33418 } },
      { name: 'metrics', ca: join(folder, 'internal-ca.pem'), auth: { privateKey: join(folder, 'hub.pem') } },
    ]);
  },
  async 'config-servers'(code) {
    const { servers } = await configOf(code, { GITHUB_TOKEN: 't' });
    expect(servers).toMatchObject([
      { name: 'github', transport: 'stdio', env: { GITHUB_TOKEN: 't' }, cwd: join(folder, 'work') },
      { name: 'docs', transport: 'http', headers: { Authorization: 'Bearer none' } },
    ]);
    const page = readFileSync(join(root, 'docs/config.md'), 'utf8');
    for (const key of knownKeysAt(['mcpServers', 'github'])) expect(page, key).toMatch(new RegExp(`^\\| .*\`${key}\`.* \\|`, 'm'));
  },
  'config-approve': async (code) => expect((await configOf(code)).servers).toMatchObject([{}, { approve: 'writes' }, { trusted: false }]),
  'config-metrics': async (code) => expect((await configOf(code)).telemetry.metrics).toBe(true),
  'config-plain': async (code) => expect((await configOf(code)).servers).toMatchObject([{ name: 'docs', names: 'plain' }]),
  /** Says what is read and what is run, by the server that the config makes. */
  async 'config-skills'(code) {
    for (const skill of ['downloads/skills/theirs', 'skills/ours']) {
      mkdirSync(join(folder, skill, 'scripts'), { recursive: true });
      writeFileSync(join(folder, skill, 'SKILL.md'), '---\ndescription: Greets.\n---\nHello');
      writeFileSync(join(folder, skill, 'scripts/greet.sh'), 'echo $API_KEY');
    }
    const { skills } = await configOf(code, { HOME: folder, API_KEY: 'the key' });
    const server = createSkillsServer({ folders: skills });
    const runScript = async (skill_name: string) => {
      const message = { name: 'run_skill_script', arguments: { skill_name, script_name: 'greet' } };
      return server.request('tools/call', message, createContext('tools/call', message));
    };
    expect(await runScript('ours')).toMatchObject({ structuredContent: { success: true, output: 'the key\n' } });
    expect(await runScript('theirs')).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('is not trusted') }] });
    await server.close();
  },
  async 'config-audit'(code) {
    const { audit } = await configOf(code);
    expect(audit).toEqual({ file: join(folder, 'audit.jsonl'), logArguments: true, maxBytes: 1_048_576 });
  },
  async 'config-exchange'(code) {
    const { exchange } = await configOf(code);
    expect(exchange).toMatchObject([{ keys: join(folder, 'jwks.json'), ttlMs: 900_000, calls: 1000 }]);
    expect(exchange[0]?.perMinute).toBeUndefined();
    for (const key of knownKeysAt(['notebridge', 'exchange', 0])) expect(code).toContain(`"${key}"`);
  },
  /** The one form that every host reads. */
  async 'host-config'(code) {
    expect(JSON.parse(code)).toEqual({ mcpServers: { notebridge: { command: 'notebridge' } } });
  },
  /** packages/page/test/e2e/guide.test.ts runs both for real, in Chromium against the program. */
  async 'own-page'(code) {
    expect(code).toContain("from './page.min.js'");
  },
  async 'own-page-host'(code) {
    expect(JSON.parse(code)).toHaveProperty('mcpServers.notebridge.args');
  },
  async 'local-config'(code) {
    const { args } = JSON.parse(code).mcpServers.notebridge as { args: string[] };
    await using program = await Program.open({ args: [...args.slice(0, -1), join(folder, 'work.ipynb')] });
    expect(await program.callTool('get_notebook_info')).toMatchObject({ result: { content: [{ type: 'text' }] } });
  },
  /** packages/notebook/test/lab works with what these lines install and start. */
  async 'jupyterlab-install'(code) {
    expect(code.split('\n')).toEqual(['pip install jupyterlab jupyter-collaboration', 'jupyter lab']);
  },
  /** test/e2e/jupyter-notebook.test.ts has a server to find; here it is said that there is none. */
  async 'jupyterlab-config'(code) {
    const { args } = JSON.parse(code).mcpServers.notebridge as { args: string[] };
    await using program = await Program.open({ args, env: { JUPYTER_RUNTIME_DIR: folder } });
    expect(JSON.stringify(await program.callTool('list_notebooks'))).toContain('No Jupyter server of yours runs');
  },
  /** test/e2e/demo.test.ts has the rest of it. */
  async 'demo-command'(code) {
    const { stdout } = await shell(code);
    expect(stdout).toMatch(/^Done: .*every result checked/m);
  },
  /** test/e2e/local-notebook.test.ts looks into its window. */
  async 'notebook-command'(code) {
    const [, ...args] = code.split(' ');
    await using program = await Program.open({ args: [...args.slice(0, -1), join(folder, 'own.ipynb')] });
    await program.until(() => windowFileIn(program.stderr) !== undefined, 90_000);
    expect(windowUrlIn(program.stderr)).toContain('http://localhost:');
  },
  async 'kernels-list'(code) {
    expect((await shell(code)).stdout).toContain('--kernel pyodide');
  },
  /** In an environment that has it already: pip says so. */
  async 'kernels-install'(code) {
    const python = await pythonWith(['ipykernel', 'jupyter_client']);
    symlinkSync(dirname(dirname(python)), join(folder, '.venv'));
    expect((await shell(code)).stdout).toContain('ipykernel');
  },
  /** Runs after the snippet above it. test/e2e/kernels.test.ts runs code in it. */
  async 'kernels-open'(code) {
    const [, ...args] = code.split(' ');
    await using program = await Program.open({
      args: [...args.slice(0, -1), join(folder, '.venv/bin/python'), '--standalone', '--sandbox', 'off'],
      cwd: folder,
    });
    expect(await program.callTool('run_code', { code: 'print(6 * 7)' })).toMatchObject({
      result: { content: [{ text: expect.stringContaining('42') }] },
    });
  },
  async 'notebook-host'(code) {
    const script = join(folder, 'host.mjs');
    writeFileSync(script, code);
    const { stdout } = await run(process.execPath, [script], { cwd: folder });
    expect(stdout).toMatch(/#token=/);
    expect(stdout).toContain('42');
  },
  async 'tools-config'(code) {
    const file = join(folder, 'tools.json');
    writeFileSync(file, code);
    const { servers } = await loadConfig({ file, env: { HOME: folder } });
    expect(servers).toMatchObject([{ name: 'fs', args: ['-y', '@modelcontextprotocol/server-filesystem', folder] }]);
  },
  /** The snippet below it runs against it. */
  async 'tools-serve'(code) {
    expect(code).toBe('notebridge serve');
  },
  async 'tools-commands'(code) {
    await using hub = await ServedHub.start({ servers: { fs: installedServer('filesystem', ['${HOME}']) }, args: ['--notebook', 'none'] });
    await hub.logged('running on stdio');
    const { stdout } = await shell(code.replaceAll('8765', String(hub.port)), hub.env);
    expect(stdout).toMatch(/^fs +(running|starting) /m);
    expect(stdout).toContain('for agents: fs__list_directory');
    expect(stdout).toContain('[FILE] mcp.json');
    expect(Object.keys(JSON.parse(String(stdout).trim().split('\n').at(-1) ?? ''))).toEqual(answerKeys);
  },
  async 'tools-answer'(code) {
    expect(Object.keys(JSON.parse(code))).toEqual(answerKeys);
  },
};

const answerKeys = ['success', 'result', 'error', 'is_error', 'content', 'meta', 'error_code', 'call_id', 'duration_ms'];

describe('every snippet of the documentation', () => {
  // A snippet may be a whole demo, and has no less time than a person would give it.
  it.each(snippets)('$page:$line ($lang) runs', { timeout: 240_000, tags: ['P-084', 'P-018'] }, async ({ runs: name, code }) => {
    const known = {
      ...runs,
      ...guide.runs,
      ...cluster,
      ...codeModeRuns,
      ...operatingRuns(shell),
      ...recordingRuns(folder),
      ...elsewhereRuns(folder),
    };
    expect(Object.keys(known)).toContain(name);
    await known[name ?? '']?.(code);
  });
});

it('no page has a reader run what bears our name in a registry', { tags: ['P-237'] }, () => {
  for (const page of pages) {
    const text = readFileSync(join(root, page), 'utf8');
    expect(text, page).not.toMatch(
      /\bnpx\W+(?:-y\W+)?@?notebridge\b|npm (?:install|i) (?:-g |--global )?@?notebridge\b|npmjs\.com\/package\/@?notebridge/,
    );
  }
});

it('the README is short enough to be read', () => {
  expect(readFileSync(join(root, 'README.md'), 'utf8').trimEnd().split('\n').length).toBeLessThan(120);
});
