import { readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toHttpCodeAgent } from '../support/code-mode.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { installedServer, isAlive, ServedHub } from '../support/served-hub.js';

const slow = 180_000;
/** After this a check is too late; after three times as long the checker is ended. */
const typeCheckMs = 4000;
const wrong = 'from generated.mcp.everything import echo\nawait echo(text="a")';
const imports = 'from generated.mcp.everything import echo\n';
type CodeCaller = ReturnType<typeof toHttpCodeAgent>;

describe('the type checker, attacked by code', () => {
  let hub: ServedHub;
  let attacker: CodeCaller;
  let other: CodeCaller;
  const checkers = () => hub.log().filter(({ msg }) => msg === 'Code is type-checked before it runs.');
  const pid = () => Number(checkers().at(-1)?.pid);
  /** Of another agent, also after a check that ended the checker: it is started again. */
  const isChecked = (agent: CodeCaller) =>
    vi.waitUntil(async () => (await agent.execute({ code: wrong })).texts.join().includes('Nothing was run'), {
      timeout: slow / 2,
      interval: 500,
    });
  const agentOf = async (...terms: string[]) => {
    const { token } = await hub.grant('--door', 'agent', '--allow', 'code-mode:*', ...terms);
    return toHttpCodeAgent(await openLegacyAgent(hub, () => token));
  };

  beforeAll(async () => {
    hub = await ServedHub.start({
      servers: { everything: installedServer('everything'), memory: installedServer('memory') },
      notebridge: { codeMode: { typeCheckMs, codeCharacters: 2_000_000 } },
      args: ['--code-mode', '--notebook', 'none'],
    });
    attacker = await agentOf('--allow', 'everything:*');
    other = await agentOf('--allow', 'everything:*', '--allow', 'memory:*');
    await isChecked(other);
    await isChecked(attacker);
  }, slow);
  afterAll(() => hub[Symbol.asyncDispose]());

  it('has no variable of ours, no file of others, and no program', { tags: ['P-454'] }, () => {
    const environ = readFileSync(`/proc/${pid()}/environ`, 'latin1').split('\0').filter(Boolean);
    const names = environ.map((each) => each.split('=', 1)[0]);
    expect(names.sort()).toEqual(['HOME', 'LC_ALL', 'NOTEBRIDGE_TREE', 'PATH', 'TEMP', 'TMP', 'TMPDIR']);
    const folder = environ.find((each) => each.startsWith('HOME='))?.slice(5) ?? '';
    expect([dirname(folder), (statSync(folder).mode & 0o777).toString(8)]).toEqual([tmpdir(), '700']);
    const words = readFileSync(`/proc/${pid()}/cmdline`, 'utf8').split('\0');
    expect(words.some((word) => /^--(experimental-)?permission$/.test(word))).toBe(true);
    expect(words.filter((word) => word.startsWith('--allow'))).toHaveLength(3);
  });

  it('knows of the tools of whose code it is, and of no others', { tags: ['P-454'], timeout: slow }, async () => {
    const code = 'from generated.mcp.memory import read_graph\nawait read_graph()';
    const checked = async () => {
      const { status, texts } = await attacker.execute({ code });
      return [status, texts[0]];
    };
    // A check that comes too late, since the machine has other work, is none: the code runs, and finds it missing in its own way.
    await expect
      .poll(checked, { timeout: slow / 2 })
      .toEqual(['error', expect.stringContaining('line 1: generated.mcp has no "memory". search_tools finds what there is.')]);
    expect(await other.execute({ code })).toMatchObject({ status: 'ok', calls: 1 });
  });

  for (const { cells, tags } of coreAndDeep<[string, string]>(
    [
      ['leave its folder by dots', `${imports}from ..... import passwd\nfrom ...generated.mcp.memory import read_graph`],
      [
        'go through folders of others',
        `${imports}import sys\nfor name in ("tmp", "temporary", "probe"):\n    pass\nimport probe.code_of_execute_code`,
      ],
      ['have 1 MB', `${imports}x = 1\n${'x = x + 1  # more\n'.repeat(60_000)}`],
      ['nest 10,000 brackets', `${imports}x = ${'['.repeat(10_000)}${']'.repeat(10_000)}`],
      ['have a NUL', `${imports}x = "a\0b"`],
      ['have half a surrogate', `${imports}x = "\ud800"\nawait echo(text=x)`],
      ['switch rules', `# pyright: strict\n# pyright: basic, reportMissingImports=true\n${imports}import nowhere_at_all`],
      ['have 3,000 errors', `${imports}async def f():\n${'    await echo(text=1)\n'.repeat(3000)}`],
      ['have 500 errors without a fault', `${imports}${'unknown(1)(2)[3] + ""\n'.repeat(500)}`],
    ],
    ([what]) => !/MB|000|500/.test(what),
  )) {
    it.each(cells)(
      'code that wants to %s gets an answer, and the next code is checked',
      { tags: [...tags, 'P-455'], timeout: slow },
      async (_, code) => {
        const { status, texts } = await attacker.execute({ code });
        expect(['ok', 'error']).toContain(status);
        expect(texts.join('\n')).not.toContain('read_graph(');
        await isChecked(other);
      },
    );
  }

  it('code that no checker comes to an end with runs unchecked, which is said once, and others are checked again', {
    tags: ['deep', 'P-455'],
    timeout: slow,
  }, async () => {
    // The work doubles with each of them.
    const endless = `${imports}def run():\n    return ${'dict(a='.repeat(40)}1${')'.repeat(40)}\nlen(await echo(message="a"))`;
    const before = checkers().length;
    const slowest = await agentOf('--allow', 'everything:*');
    const answers = [await slowest.execute({ code: endless }), await slowest.execute({ code: endless })];
    expect(answers).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    expect(answers.map(({ texts }) => texts.join().includes('ran without a type check'))).toEqual([true, false]);
    expect(await other.execute({ code: `${imports}len(await echo(message="a"))` })).toMatchObject({ status: 'ok' });
    await isChecked(other);
    expect(checkers().length).toBeGreaterThan(before);
  });

  it('a checker that is killed is started again', { tags: ['deep', 'P-455'], timeout: slow }, async () => {
    const killed = pid();
    process.kill(killed, 'SIGKILL');
    expect(await other.execute({ code: `${imports}len(await echo(message="a"))` })).toMatchObject({ status: 'ok', calls: 1 });
    await isChecked(other);
    expect(pid()).not.toBe(killed);
  });

  it('ends with the hub, and leaves no file', { tags: ['P-454'] }, async () => {
    const last = pid();
    const folder = (name: string) => name.startsWith(`notebridge-scratch-${hub.pid}-`);
    expect([isAlive(last), readdirSync(tmpdir()).some(folder)]).toEqual([true, true]);
    await hub.stop();
    expect([isAlive(last), readdirSync(tmpdir()).some(folder)]).toEqual([false, false]);
  });
});
