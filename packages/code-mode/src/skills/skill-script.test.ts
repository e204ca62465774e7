import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { JsonObject } from '@notebridge/protocol/json';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { callSkills, faultOf, resultOf, useSkillsPlace } from '../../../notebridge/test/support/skill-folders.js';
import type { SkillsServer } from './skills-server.js';

const place = useSkillsPlace();

describe('run_skill_script', () => {
  const run = async (server: SkillsServer, script_name: string, args: JsonObject = {}) =>
    callSkills(server, 'run_skill_script', { skill_name: 'pdf', script_name, ...args });
  beforeEach(() => place.writeSkill('pdf'));

  it('runs Python, shell and JavaScript in the folder of the skill, without a shell', { tags: ['deep'] }, async () => {
    await place.write('pdf/scripts/a.py', 'import os, sys, json\nprint(json.dumps([os.getcwd(), sys.argv[1:], os.environ.get("KEY")]))');
    await place.write('pdf/scripts/b.sh', 'printf "%s|" "$PWD" "$@" "$KEY"');
    await place.write('pdf/scripts/c.sh', '#!/usr/bin/env bash\nwords=(one two); printf "%s" "${words[1]}"');
    await place.write('pdf/scripts/d.mjs', 'console.log(JSON.stringify([process.cwd(), process.argv.slice(2), process.env.KEY]))');
    const server = place.serve({ folders: [place.source({ env: { KEY: 'k' } })] });
    const args = ['$(id)', 'a b', '; echo'];
    const folder = join(place.root, 'pdf');
    const outputOf = async (script: string) => resultOf(await run(server, script, { args })) as JsonObject;
    expect(JSON.parse(String((await outputOf('a')).output))).toEqual([folder, args, 'k']);
    expect((await outputOf('b.sh')).output).toBe(`${folder}|${args.join('|')}|k|`);
    expect((await outputOf('scripts/c.sh')).output).toBe('two');
    expect(JSON.parse(String((await outputOf('d')).output))).toEqual([folder, args, 'k']);
    expect(await readdir(join(folder, 'scripts'))).toEqual(['a.py', 'b.sh', 'c.sh', 'd.mjs']);
  });

  it('answers in the shape of the reference', { tags: ['P-152'] }, async () => {
    await place.write('pdf/scripts/good.py', 'import sys\nprint("out")\nprint("err", file=sys.stderr)');
    const result = await run(place.serve(), 'good');
    const expected = {
      success: true,
      output: 'out\n',
      stdout: 'out\n',
      stderr: 'err\n',
      execution_ok: true,
      execution_error: null,
      code_error: null,
      exit_code: 0,
      error: null,
    };
    expect(resultOf(result)).toEqual(expected);
    expect(JSON.parse(String(result.content?.[0]?.text))).toEqual(expected);
  });

  it('runs a script from a private copy, which is gone afterwards', { tags: ['P-170'] }, async () => {
    const temporary = join(place.base, 'tmp');
    await mkdir(temporary);
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    await place.write('pdf/scripts/where.sh', 'cd "$(dirname "$0")/../.." && ls -ld . | cut -c1-10 && pwd -P && ls pdf/scripts');
    const [mode, folder, name] = String((resultOf(await run(place.serve(), 'where')) as JsonObject).output).split('\n');
    expect([mode, name]).toEqual(['drwx------', 'where.sh']);
    expect(folder).toContain(`${temporary}/`);
    expect(await readdir(temporary)).toEqual([]);
  });

  it('gives a script that fails as a result that says how', { tags: ['deep'] }, async () => {
    await place.write('pdf/scripts/exit.py', 'import sys\nprint("usage", file=sys.stderr)\nsys.exit(2)');
    await place.write('pdf/scripts/raise.py', 'print("before")\nraise ValueError("no\\nway")');
    await place.write('pdf/scripts/kill.sh', 'kill -9 $$');
    const server = place.serve();
    const failed = { success: false, execution_ok: true, execution_error: null, code_error: null };
    expect(resultOf(await run(server, 'exit'))).toMatchObject({
      ...failed,
      exit_code: 2,
      output: 'usage\n',
      error: 'Script exited with code 2',
    });
    expect(resultOf(await run(server, 'kill'))).toMatchObject({ ...failed, exit_code: null, error: 'Script was ended by SIGKILL' });
    expect(resultOf(await run(server, 'raise'))).toMatchObject({
      success: false,
      execution_ok: true,
      stdout: 'before\n',
      exit_code: 1,
      error: 'ValueError: no\nway',
      code_error: { name: 'ValueError', value: 'no\nway', traceback: expect.stringMatching(/^Traceback[^]*raise ValueError/) },
    });
  });

  it('turns named arguments into options', { tags: ['deep'] }, async () => {
    await place.write('pdf/scripts/args.sh', 'printf "%s " "$@"');
    const kwargs = { max_size: 3, deep: true, shallow: false, none: null, tag: ['a', 'b'] };
    const result = await run(place.serve(), 'args', { args: ['x', 1, true], kwargs });
    expect(resultOf(result)).toMatchObject({ output: 'x 1 true --max-size 3 --deep --tag a --tag b ' });
    for (const bad of [{ args: 'x' }, { args: [{}] }, { args: ['\0'] }, { kwargs: ['x'] }, { kwargs: { a: {} } }]) {
      expect(faultOf(await run(place.serve(), 'args', bad)).code).toBe('invalid_arguments');
    }
  });

  it('runs nothing of a folder that is not trusted, and says how to trust it', { tags: ['P-034'] }, async () => {
    await place.write('pdf/scripts/touch.sh', 'touch was-run');
    const { code, text } = faultOf(await run(place.serve({ folders: [place.source({ trusted: false })] }), 'touch'));
    expect(code).toBe('denied');
    expect(text).toContain(`put {"path": "${place.root}", "trusted": true} into "notebridge.skills" of the config`);
    expect(await readdir(join(place.root, 'pdf'))).not.toContain('was-run');
  });

  it('runs nothing but scripts of the skill', { tags: ['P-034'] }, async () => {
    await writeFile(join(place.base, 'evil.sh'), 'echo evil');
    await place.write('other.sh', 'echo evil');
    await place.write('pdf/scripts/fill.py', '');
    await place.write('pdf/scripts/fill.sh', 'echo sh');
    await place.write('pdf/scripts/data.txt', '');
    await symlink(join(place.base, 'evil.sh'), join(place.root, 'pdf', 'scripts', 'link.sh'));
    const server = place.serve();
    for (const name of [
      'link',
      'link.sh',
      '../../other.sh',
      'scripts/../../../evil.sh',
      join(place.base, 'evil.sh'),
      'data.txt',
      'SKILL.md',
    ]) {
      const { code, text } = faultOf(await run(server, name));
      expect(code).toBe('invalid_arguments');
      expect(text).toContain('Available: fill.py, fill.sh.');
    }
    expect(faultOf(await run(server, 'fill')).text).toContain('has the scripts "fill.py" and "fill.sh"; name one with its ending');
    expect(resultOf(await run(server, 'fill.sh'))).toMatchObject({ output: 'sh\n' });
  });

  it('ends a script that takes too long, and gives what it had written', { tags: ['P-035'] }, async () => {
    await place.write('pdf/scripts/slow.sh', 'echo begun; sleep 600');
    expect(resultOf(await run(place.serve({ folders: [place.source({ timeoutMs: 3000 })] }), 'slow'))).toMatchObject({
      success: false,
      stdout: 'begun\n',
      execution_ok: false,
      execution_error: 'The script could not be run: it ran longer than 3000 ms and was ended.',
      exit_code: null,
    });
  });

  it('keeps the beginning of a long output', { tags: ['deep'] }, async () => {
    await place.write('pdf/scripts/long.sh', 'i=0; while [ $i -lt 200 ]; do printf 0123456789; i=$((i+1)); done');
    const result = resultOf(await run(place.serve({ maxOutputBytes: 1000 }), 'long')) as JsonObject;
    expect(result).toMatchObject({ success: true, dropped_bytes: 1000, stdout: '0123456789'.repeat(100) });
  });

  /** A script that prints its process id, and then stays. */
  const stay = async () => {
    await place.write('pdf/scripts/stay.sh', 'echo $$ > pid.tmp; mv pid.tmp pid; sleep 600');
    const pid = async (): Promise<string> => {
      for (;;) {
        const text = await readFile(join(place.root, 'pdf', 'pid'), 'utf8').catch(() => '');
        if (text !== '') return text.trim();
      }
    };
    const isAlive = (id: string) => /^[^Z]/.test(spawnSync('ps', ['-o', 'stat=', '-p', id], { encoding: 'utf8' }).stdout.trim());
    return { pid, isAlive };
  };

  it('answers a cancelled call at once, and ends its script', { tags: ['P-035'] }, async () => {
    const { pid, isAlive } = await stay();
    const server = place.serve();
    const cancellation = new Cancellation();
    const running = callSkills(server, 'run_skill_script', { skill_name: 'pdf', script_name: 'stay' }, cancellation);
    const id = await pid();
    expect(isAlive(id)).toBe(true);
    expect(server.state.inFlight).toBe(1);
    cancellation.cancel('enough');
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    expect(server.state.inFlight).toBe(0);
    // Before the server is closed, which would end it too.
    await expect.poll(() => isAlive(id), { timeout: 45_000 }).toBe(false);
    await server.close();
  });

  it('ends its scripts when it is closed, twice too, and starts no more', { tags: ['deep'] }, async () => {
    const { pid, isAlive } = await stay();
    const server = place.serve({ maxScripts: 1 });
    const running = run(server, 'stay');
    const id = await pid();
    expect(faultOf(await run(server, 'stay')).code).toBe('limit_reached');
    await server.close();
    expect(isAlive(id)).toBe(false);
    expect(resultOf(await running)).toMatchObject({ success: false, error: 'Script was ended by SIGTERM' });
    await server.close();
    await expect(run(server, 'stay')).rejects.toMatchObject({ code: 'closed' });
  });
});
