import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeAgent, type CodeAnswer, codeDoors, toHttpCodeAgent } from '../support/code-mode.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const slow = 240_000;

type Agent = ReturnType<typeof toHttpCodeAgent>;

/** Code that saves a skill, with whatever it is called with. */
function saving(args: JsonObject): string {
  return `from generated.skills import save_skill\nimport json\nawait save_skill(json.loads(${JSON.stringify(JSON.stringify(args))}))`;
}
const total = {
  name: 'total',
  description: 'Adds the prices of an order, with tax.',
  code: 'print("adding")\nround(sum(prices) * (1 + tax), 2)',
  tags: ['shop', 'money'],
  parameters: { prices: 'list of numbers', tax: 'a share' },
  tests: 'assert await skill(prices=[1, 2], tax=0.5) == 4.5',
};
/** Tests would start a Python each. */
const untested = { ...total, tests: undefined };
const textOf = ({ texts }: CodeAnswer): string => texts.join('\n');

for (const { cells, tags } of coreAndDeep(
  codeDoors.filter(({ name }) => name === 'stdio, legacy' || name === 'HTTP, modern'),
  ({ name }) => name === 'HTTP, modern',
))
  describe.each(cells)('saved skills over $name', { tags }, ({ open, hasSession }) => {
    let folder: string;
    let agent: Pick<CodeAgent, 'names' | 'callTool'> & { execute(args: { code: string }): Promise<CodeAnswer> };
    let close: () => Promise<void>;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
      const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] };
      const opened = await open({ folder, servers: { calls } });
      close = async () => opened[Symbol.asyncDispose]();
      // One Python for all, also where a door has no session.
      const { session } = hasSession ? { session: undefined } : await opened.execute({ code: '0', session: 'new' });
      agent = { ...opened, execute: (args) => opened.execute({ ...args, ...(session === undefined ? {} : { session }) }) };
    }, slow);
    afterAll(async () => {
      await close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('are saved by code once their tests ran, found, listed, read and run by it', { tags: ['P-430'] }, async () => {
      expect((await agent.names()).filter((name) => /skill/.test(name))).toEqual([]);
      const saved = await agent.execute({ code: saving(total) });
      expect(saved, textOf(saved)).toMatchObject({ status: 'ok', result: "{'name': 'total', 'tested': True}" });
      const found = await agent.callTool('search_tools', { query: 'sum of what an order costs' });
      expect(JSON.stringify(found.content)).toContain('skill total – Adds the prices of an order, with tax.');
      expect(JSON.stringify(found.content)).toContain('run_skill');
      const code = `
from generated.skills import list_skills, load_skill, run_skill
[listed] = [skill for skill in await list_skills() if skill["saved"]]
text = await load_skill("total")
done = await run_skill("total", kwargs={"prices": [10, 20.0], "tax": 0.1})
same = run_skill.sync("total", kwargs={"prices": [10, 20.0], "tax": 0.1})
(listed["name"], listed["tags"], "sum(prices)" in text, done == same, done["result"], done["stdout"])`;
      const ran = await agent.execute({ code });
      expect(ran, textOf(ran)).toMatchObject({ status: 'ok', result: "('total', ['shop', 'money'], True, True, 33.0, 'adding\\n')" });
    });

    it('skills whose tests fail, or that are no Python, are not saved, and say why', { tags: ['deep', 'P-431'] }, async () => {
      for (const [more, said] of [
        [{ tests: 'assert await skill(prices=[1], tax=0) == 2' }, 'AssertionError'],
        [{ code: 'def broken(:', tests: undefined }, 'SyntaxError'],
      ] as const) {
        const failed = await agent.execute({ code: saving({ ...total, name: 'broken', ...more }) });
        expect(failed).toMatchObject({ status: 'error' });
        expect(textOf(failed)).toContain('was not saved');
        expect(textOf(failed)).toContain(said);
      }
      const after = await agent.execute({ code: 'from generated.skills import list_skills\n[one["name"] for one in await list_skills()]' });
      expect(after.result).not.toContain('broken');
    });

    it('replace one another only where that is asked for', { tags: ['deep', 'P-434'] }, async () => {
      const again = { ...untested, code: 'sum(prices)' };
      expect(await agent.execute({ code: saving({ ...untested, overwrite: true }) })).toMatchObject({ status: 'ok' });
      expect(textOf(await agent.execute({ code: saving(again) }))).toContain('Pass overwrite=True to replace it');
      const call = 'from generated.skills import run_skill\n(await run_skill("total", kwargs={"prices": [1], "tax": 1}))["result"]';
      expect(await agent.execute({ code: call })).toMatchObject({ result: '2' });
      expect(await agent.execute({ code: saving({ ...again, overwrite: true }) })).toMatchObject({ status: 'ok' });
      expect(await agent.execute({ code: call })).toMatchObject({ result: '1' });
      expect(await agent.execute({ code: saving({ ...untested, overwrite: true }) })).toMatchObject({ status: 'ok' });
    });

    it('have names that are no paths', { tags: ['deep', 'P-434'] }, async () => {
      for (const name of ['../x', '..', 'a/b', '/tmp/x', 'a\\b', '', 'x'.repeat(65), '.hidden', 'a\0b', 'ü']) {
        const refused = await agent.execute({ code: saving({ ...total, name }) });
        expect(textOf(refused)).toMatch(/"name" (must be of 1 to 64 letters|is missing)/);
      }
    });

    it('skills that failed have no result: who reads it is told why, and who looks first finds it', { tags: ['deep'] }, async () => {
      const read = await agent.execute({ code: 'from generated.skills import run_skill\n(await run_skill("total"))["result"]' });
      expect(read).toMatchObject({ status: 'error', isError: true });
      expect(textOf(read)).toContain("The skill failed, so it has no result: NameError: name 'prices' is not defined");
      const looked = await agent.execute({
        code: 'done = await run_skill("total")\n(done["success"], done.get("result"), "result" in done)',
      });
      expect(looked).toMatchObject({ status: 'ok', result: '(False, None, False)' });
    });

    it('call tools with the rights and the budget of the code that runs them, and fail as a result', { tags: ['deep'] }, async () => {
      const code = 'from generated.mcp.calls import count\nawait count(n=n)\nraise ValueError("oh")';
      await agent.execute({ code: saving({ ...total, name: 'counts', code, tests: undefined }) });
      const ran = await agent.execute({
        code: 'from generated.skills import run_skill\ndone = await run_skill("counts", kwargs={"n": "by-skill"})\n(done["success"], done["error"])',
      });
      expect(ran).toMatchObject({ status: 'ok', result: "(False, 'ValueError: oh')", calls: 2 });
      expect(readFileSync(join(folder, 'count'), 'utf8')).toContain('count by-skill');
      expect(await agent.execute({ code: 'from generated.skills import delete_skill\nawait delete_skill("counts")' })).toMatchObject({
        result: "{'name': 'counts', 'deleted': True}",
      });
      expect(textOf(await agent.execute({ code: 'await run_skill("counts")' }))).toContain('There is no skill "counts"');
    });

    it('skills that save skills do so as their caller, and their tests save none', { tags: ['P-436'], timeout: slow }, async () => {
      const inner = saving({ ...untested, name: 'inner' });
      const test = await agent.execute({ code: saving({ ...total, name: 'outer', code: inner, tests: 'await skill()' }) });
      expect(textOf(test)).toContain('The tests of a skill save and delete no skills');
      expect(await agent.execute({ code: saving({ ...total, name: 'outer', code: inner, tests: undefined }) })).toMatchObject({
        status: 'ok',
      });
      const ran = await agent.execute({ code: 'from generated.skills import run_skill\n(await run_skill("outer"))["result"]' });
      expect(ran, textOf(ran)).toMatchObject({ result: "{'name': 'inner', 'tested': False}" });
      const itself = {
        ...total,
        name: 'itself',
        code: 'from generated.skills import run_skill\nawait run_skill("itself")',
        tests: undefined,
      };
      await agent.execute({ code: saving(itself) });
      const ended = await agent.execute({ code: 'from generated.skills import run_skill\n(await run_skill("itself"))["success"]' });
      expect(ended.status).not.toBe('running');
      expect(await agent.execute({ code: '1 + 1' })).toMatchObject({ status: 'ok', result: '2' });
    });
  });

describe('a saved skill of one agent', () => {
  let hub: ServedHub;
  let folder: string;
  let skills: string;
  let mine: Agent;
  let other: Agent;
  const agentOf = async (...allow: string[]) => {
    const { token } = await hub.grant('--agent', ...allow.flatMap((pattern) => ['--allow', pattern]));
    return toHttpCodeAgent(await openLegacyAgent(hub, () => token));
  };
  const names = async (agent: Pick<CodeAgent, 'execute'>) =>
    (await agent.execute({ code: 'from generated.skills import list_skills\nsorted(one["name"] for one in await list_skills())' })).result;
  const run = async (agent: Pick<CodeAgent, 'execute'>) =>
    agent.execute({
      code: 'from generated.skills import run_skill\n(await run_skill("total", kwargs={"prices": [1], "tax": 1}))["result"]',
    });
  const found = async (agent: Pick<CodeAgent, 'callTool'>) =>
    JSON.stringify((await agent.callTool('search_tools', { query: 'prices of an order' })).content).includes('skill total');
  const listed = async () => (JSON.parse((await hub.run('skills', 'list', '--json')).stdout) as { skills: JsonObject[] }).skills;
  /** Trusts what is there now. */
  const trust = async (id?: string) => {
    const { id: ofFirst, version } = (await listed()).find((one) => id === undefined || one.id === id) ?? {};
    return hub.run('skills', 'trust', `${ofFirst}@${version}`);
  };
  const filesBelow = (path: string): string[] => readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name));
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    mkdirSync(join(folder, 'kept'));
    writeFileSync(join(folder, 'kept', 'SKILL.md'), '---\nname: kept\ndescription: Of the config.\n---\n');
    const calls = { command: process.execPath, args: [fixtureServer('calls.mjs'), join(folder, 'count')] };
    hub = await ServedHub.start({ servers: { calls }, notebridge: { skills: [folder] }, args: ['--code-mode', '--notebook', 'none'] });
    skills = join(hub.stateDir, 'skills');
    // Each has a Python of its own, for all tests.
    [mine, other] = [await agentOf('*:*'), await agentOf('code-mode:*', 'skills:*')];
  }, slow);
  afterAll(async () => {
    await hub[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is seen and run by no other, until the owner trusts it for all; saved anew it is its own again', {
    tags: ['P-432'],
    timeout: slow,
  }, async () => {
    expect(await mine.execute({ code: saving(untested) })).toMatchObject({ status: 'ok' });
    expect([await names(mine), await found(mine)]).toEqual(["['kept', 'total']", true]);
    expect([await names(other), await found(other)]).toEqual(["['kept']", false]);
    expect(textOf(await run(other))).toContain('There is no skill "total"');
    const { answer } = await hub.call('skills', 'run_skill_script', { skill_name: 'total' }, hub.ownerToken);
    expect(JSON.stringify(answer)).toContain('There is no skill');
    expect((await hub.call('skills', 'save_skill', total, hub.ownerToken)).answer).toMatchObject({ error_code: 'denied' });

    expect((await hub.run('skills', 'show', 'total')).stdout).toContain('round(sum(prices) * (1 + tax), 2)');
    expect((await trust()).stdout).toContain('is for all agents now');
    for (const agent of [mine, other]) expect([await found(agent), (await run(agent)).result]).toEqual([true, '2']);
    // A name that all know is taken.
    for (const more of [{}, { overwrite: true }])
      expect(textOf(await other.execute({ code: saving({ ...untested, ...more }) }))).toContain('that the owner trusts for all');
    expect((await other.execute({ code: 'from generated.skills import delete_skill\nawait delete_skill("total")' })).result).toContain(
      "'deleted': False",
    );

    expect(await mine.execute({ code: saving({ ...untested, code: '13', overwrite: true }) })).toMatchObject({
      status: 'ok',
    });
    expect((await run(mine)).result).toBe('13');
    expect(textOf(await run(other))).toContain('There is no skill "total"');
    expect(await other.execute({ code: saving(untested) })).toMatchObject({ status: 'ok' });
    expect([(await run(mine)).result, (await run(other)).result]).toEqual(['13', '2']);
    const ambiguous = await hub.run('skills', 'trust', 'total');
    expect([ambiguous.ending, ambiguous.stderr]).toEqual([2, expect.stringContaining('Several savers have a skill "total"')]);
    const [first, second] = await listed();
    await trust(String(first?.id));
    expect((await trust(String(second?.id))).stderr).toContain('is trusted already, and has the same name');
    expect((await hub.run('skills', 'distrust', String(first?.id))).stdout).toContain('for its saver alone');
    await hub.run('skills', 'delete', String(first?.id), String(second?.id));
    expect(await listed()).toEqual([]);
    expect([await names(mine), await names(other)]).toEqual(["['kept']", "['kept']"]);
    expect(filesBelow(skills).filter((path) => path.endsWith('.py'))).toEqual([]);
  });

  it('has the rights of the code that runs it, not of its saver', { tags: ['P-433'], timeout: slow }, async () => {
    const code = 'from generated.mcp.calls import count\nawait count(n="lent")';
    await mine.execute({ code: saving({ ...untested, code }) });
    await trust();
    expect(await run(other)).toMatchObject({ result: undefined });
    const told = await other.execute({ code: 'from generated.skills import run_skill\n(await run_skill("total"))["error"]' });
    expect(told.result).toMatch(/No module named|cannot import/);
    expect((await run(mine)).result).toBe("'lent'");
    await hub.run('skills', 'delete', 'total');
  });

  it('takes no name of a skill of the config', { tags: ['deep', 'P-434'], timeout: slow }, async () => {
    expect(textOf(await mine.execute({ code: saving({ ...untested, name: 'kept' }) }))).toContain('in a folder of the config');
    expect(await listed()).toEqual([]);
  });

  it('is private on disk, and not run once its files were changed', { tags: ['deep', 'P-435'], timeout: slow }, async () => {
    await mine.execute({ code: saving(untested) });
    const all = filesBelow(skills);
    expect(all.filter((path) => path.endsWith('.py'))).toHaveLength(1);
    for (const path of all) expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
    const script = all.find((path) => path.endsWith('run.py')) ?? '';
    const tamper: [what: string, change: () => void][] = [
      ['other code', () => writeFileSync(script, 'open("/etc/passwd")')],
      ['none', () => rmSync(script)],
      ['a link to elsewhere', () => symlinkSync('/etc/passwd', script)],
    ];
    for (const [what, change] of tamper) {
      change();
      expect([what, textOf(await run(mine))]).toEqual([what, expect.stringContaining('are not those that were saved, so it is not run')]);
      expect((await trust()).stderr).toContain('are not those that were saved');
    }
    // Saved again it is whole, though it has the same content.
    expect(await mine.execute({ code: saving({ ...untested, overwrite: true }) })).toMatchObject({ status: 'ok' });
    expect((await run(mine)).result).toBe('2');
    const index = join(skills, 'index.json');
    const entry = (JSON.parse(readFileSync(index, 'utf8')) as { skills: JsonObject[] }).skills[0];
    writeFileSync(
      index,
      JSON.stringify({
        version: 1,
        skills: [
          { ...entry, name: '../../../etc' },
          { ...entry, hash: '../..' },
        ],
      }),
    );
    expect(await names(mine)).toBe("['kept']");
    chmodSync(index, 0o644);
    expect(textOf(await run(mine))).toContain('is open to other users');
    rmSync(skills, { recursive: true });
    expect(await names(mine)).toBe("['kept']");
  });
});
