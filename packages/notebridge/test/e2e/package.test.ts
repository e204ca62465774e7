// @module-tag deep
// @module-tag P-016

import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';

const run = promisify(execFile);
const packages = fileURLToPath(new URL('../../..', import.meta.url));
let folder = '';
// Compilers and demos, on a busy machine.
vi.setConfig({ testTimeout: 300_000 });

const initialize = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'notebridge-packed-'));
  // The tests run on what is built already; building again here would pull it from under their feet.
  const tarballs = await Promise.all(['notebridge', 'notebook', 'bindings', 'page'].map((name) => pack(name)));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], { cwd: folder });
}, 600_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the packed program, installed in an empty folder, lists its tools and answers a call', async () => {
  const messages = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'get_cells', arguments: {} } },
  ];
  const answers = await exchange(join(folder, 'node_modules', '.bin', 'notebridge'), messages);
  const [, tools, call] = answers;
  expect(tools?.result.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['open_colab_browser_connection', 'run_code_cell']));
  expect(call?.result.isError).toBe(true);
});

it('the packed library is imported by name, with its types', async () => {
  const { stdout } = await run(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      "import { ColabSessionProxy } from 'notebridge/reference'; console.log(new ColabSessionProxy().middleware.length)",
    ],
    { cwd: folder },
  );
  expect(stdout.trim()).toBe('0');
  expect(existsSync(join(folder, 'node_modules', 'notebridge', 'dist', 'index.d.ts'))).toBe(true);
});

const entries = [
  ...[
    'notebridge',
    'notebridge/reference',
    '@notebridge/notebook',
    '@notebridge/notebook/host',
    '@notebridge/notebook/lab',
    '@notebridge/notebook/outputs',
  ],
  ...['@notebridge/bindings', '@notebridge/bindings/python', '@notebridge/bindings/typescript', '@notebridge/page'],
];

// Nothing is installed beside the packages, and nothing of theirs is left unchecked.
it.each(['typescript', '@typescript/native'])('the packed library has types that compile (%s)', async (compilerName) => {
  const right = `import { ColabSessionProxy } from 'notebridge/reference';
${entries.map((entry, at) => `export type * as entry${at} from '${entry}';`).join('\n')}
export const count: number = new ColabSessionProxy().middleware.length;
`;
  writeFileSync(join(folder, 'right.mts'), right);
  writeFileSync(join(folder, 'wrong.mts'), right.replace('number', 'string'));
  const compiler = join(dirname(createRequire(import.meta.url).resolve(`${compilerName}/package.json`)), 'bin/tsc');
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--module', 'nodenext'];
  const compile = (file: string) =>
    run(process.execPath, [compiler, ...options, file], { cwd: folder }).catch(({ stdout }) => ({ stdout }));
  expect((await compile('right.mts')).stdout).toBe('');
  expect((await compile('wrong.mts')).stdout).toContain("Type 'number' is not assignable to type 'string'");
});

it('the package carries its licence and readme, and no test or source', () => {
  const shipped = readdirSync(join(folder, 'node_modules', 'notebridge'));
  expect(shipped.sort()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json']);
});

it('the packed program runs Python in the built-in notebook, with nothing else installed', async () => {
  const call = { id: 2, method: 'tools/call', params: { name: 'run_code', arguments: { code: 'print(6 * 7)' } } };
  const [, answer] = await exchange(join(folder, 'node_modules', '.bin', 'notebridge'), [initialize, call], ['--notebook', 'local']);
  expect(JSON.stringify(answer)).toContain('42');
});

it('the packed program plays its demo to the end', async () => {
  const env = { ...bareEnvironment(), HOME: folder };
  const { stdout } = await run(join(folder, 'node_modules', '.bin', 'notebridge'), ['demo', '--json'], { cwd: folder, env });
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
});

// The last one: it breaks what is installed.
it('doctor says that the built-in Python is broken, and how to mend it', { tags: ['P-011'] }, async () => {
  rmSync(join(folder, 'node_modules', 'pyodide'), { recursive: true });
  const env = { ...bareEnvironment(), HOME: folder };
  const args = ['doctor', '--json', '--port', '0'];
  const ended = await run(join(folder, 'node_modules', '.bin', 'notebridge'), args, { cwd: folder, env }).catch((error) => error);
  const { checks } = JSON.parse(ended.stdout) as { checks: { name: string; status: string; next: string }[] };
  const check = checks.find(({ name }) => name === 'built-in Python');
  expect([ended.code, check]).toMatchObject([1, { status: 'fault', next: expect.stringContaining('npm install') }]);
});

/** Packs a package of the workspace. Gives the tarball's name in the folder. */
async function pack(name: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], { cwd: join(packages, name) });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  return `./${packed?.filename}`;
}

interface Answer {
  id: number;
  result: { tools: { name: string }[]; isError?: boolean };
}

/** Writes all messages at once, and closes stdin when as many answers have come; gives the answers. */
function exchange(command: string, messages: object[], args: string[] = []): Promise<Answer[]> {
  return new Promise((resolve, reject) => {
    const env = { ...bareEnvironment(), HOME: folder };
    const child = spawn(command, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
    const answers: Answer[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (answers.push(JSON.parse(line) as Answer) === messages.length) child.stdin.end();
    });
    // Calls are answered as they end, in whatever order.
    child.on('error', reject).on('exit', () => resolve(answers.sort((a, b) => a.id - b.id)));
    child.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
  });
}
