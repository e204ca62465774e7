import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeAgent, codeDoors } from '../support/code-mode.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { createHome, programFile } from '../support/program.js';
import { installedServer } from '../support/served-hub.js';

const slow = 240_000;
/** Other work of the machine makes no check too late. */
const notebridge = { codeMode: { typeCheckMs: 60_000 } };
const servers = () => ({ everything: installedServer('everything') });
const wrong = 'from generated.mcp.everything import echo\nawait echo(message="first")\nawait echo(text="second")';

for (const { cells, tags } of coreAndDeep(codeDoors, ({ name }) => name === 'HTTP, modern')) {
  describe.each(cells)('code with an error over $name', { tags }, ({ open, hasSession }) => {
    let folder: string;
    let agent: CodeAgent;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
      agent = await open({ folder, servers: servers(), notebridge });
    }, slow);
    afterAll(async () => {
      await agent[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    it('is answered before it runs, with the line and the signature, and runs under the same id when it is right', {
      tags: ['P-449'],
      timeout: slow,
    }, async () => {
      const refused = await agent.execute({ code: wrong, execution_id: 'one' });
      expect(refused).toMatchObject({ status: 'error', calls: 0, isError: true });
      expect(refused.texts).toEqual([
        [
          'TypeCheckError: Nothing was run: a type check found errors in the code before it began.',
          'line 3: No parameter named "text"',
          '    await echo(text="second")',
          '    the tool: everything.echo(*, message: str) -> Any',
        ].join('\n'),
        ...(hasSession ? [] : [expect.stringContaining('session: ')]),
        'No tool was called.',
      ]);
      const right = await agent.execute({ code: wrong.replace('text', 'message'), execution_id: 'one' });
      expect(right).toMatchObject({ status: 'ok', calls: 2, isError: false });
    });

    it('names of earlier code of the session are no error, and have no types', { tags: ['deep', 'P-450'], timeout: slow }, async () => {
      const code = 'from generated.mcp.everything import echo\nkept = echo\nnumber = 5';
      const first = await agent.execute({ code, ...(hasSession ? {} : { session: 'new' }) });
      const again = hasSession ? {} : { session: first.session };
      const next = 'import generated\nassert number == 5\nawait kept(message=str(number))\nawait echo(message="b")';
      expect(await agent.execute({ code: next, ...again })).toMatchObject({ status: 'ok', calls: 2 });
      const unknown = await agent.execute({ code: 'import generated\nawait kept(text="b")', ...again });
      expect(unknown.texts.join()).toContain("unexpected keyword argument 'text'");
    });
  });
}

describe('with "typeCheck": "off"', () => {
  it('code runs as it is, until its error', { tags: ['deep', 'P-452'], timeout: slow }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const [stdio] = codeDoors;
    const agent = await stdio?.open({ folder, servers: servers(), notebridge: { codeMode: { typeCheck: 'off' } } });
    const answer = await agent?.execute({ code: wrong });
    await agent?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
    expect(answer).toMatchObject({ status: 'error', calls: 1 });
    expect(answer?.texts.join()).toContain("unexpected keyword argument 'text'");
  });
});

describe('where a type checker', () => {
  it('is required, the program does not start without, and says what to install; a command on the PATH is one', {
    tags: ['deep', 'P-452'],
    timeout: slow,
  }, async () => {
    const { home, env } = createHome();
    const program = copyWithoutChecker(home);
    const config = join(home, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: {}, notebridge: { codeMode: { typeCheck: 'require' } } }));
    const args = [program, 'serve', '--port', '0', '--config', config, '--notebook', 'none'];
    const without = await run(args, env, () => false);
    expect(without.code).toBe(2);
    expect(without.said).toContain(`${config}: "notebridge.codeMode.typeCheck" is "require", and no type checker is installed`);
    expect(without.said).toContain('npm install --global pyright');
    mkdirSync(join(home, 'bin'));
    symlinkSync(fileURLToPath(import.meta.resolve('pyright/langserver.index.js')), join(home, 'bin/pyright-langserver'));
    const found = await run(args, { ...env, PATH: join(home, 'bin') }, (said) => said.includes('"msg":"Serving."'));
    rmSync(home, { recursive: true, force: true });
    expect(found).toMatchObject({ code: 0, said: expect.stringContaining('Serving.') });
  });
});

/** The built program in a folder with all that it needs, but for pyright. */
function copyWithoutChecker(folder: string): string {
  const own = dirname(dirname(programFile));
  const modules = join(own, '../../node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(modules)) {
    if (!name.endsWith('pyright') && !name.startsWith('.')) symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  }
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(own, part), join(folder, 'notebridge', part), { recursive: true });
  return join(folder, 'notebridge/bin/notebridge.js');
}

/** Runs a program to its end, which comes by SIGTERM as soon as it has said what is waited for. */
async function run(
  args: string[],
  env: Record<string, string>,
  isEnough: (said: string) => boolean,
): Promise<{ code: unknown; said: string }> {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  let isStopped = false;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (!isStopped && isEnough(said)) isStopped = child.kill('SIGTERM');
  });
  const [code] = (await once(child, 'close')) as [unknown];
  return { code, said };
}
