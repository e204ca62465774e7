import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, Program, programFile, runProgram } from '../support/program.js';
import { linesOf } from '../support/upstreams.js';

let home: string;
let env: Record<string, string>;
beforeAll(() => {
  ({ home, env } = createHome());
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
const grant = (...args: string[]) => runProgram(['grant', ...args], { env });

describe('grant, with no hub running', () => {
  it('prints the token alone on stdout, and what it may do on stderr', { tags: ['P-012', 'P-149'] }, async () => {
    const { ending, stdout, stderr } = await grant(
      '--allow',
      'github:*',
      '--ttl',
      '15m',
      '--calls',
      '100',
      '--read-only',
      '--rate',
      '60/m',
    );
    expect(ending).toBe(0);
    expect(stdout).toMatch(/^nbg_[\w-]{43}\n$/);
    expect(stderr).toMatch(
      /^Grant g_[\da-f]{12}: github:\* that only reads; 100 calls; 60 a minute; ends in 15 min; for code at the tool proxy\.\n$/,
    );
  });

  it('--json prints token and terms; the list has all but the token, and nothing has it after', async () => {
    const { stdout } = await grant('--json', '--agent', '--allow', 'a:*,b:x', '--concurrent', '2', '--label', 'me');
    const issued = JSON.parse(stdout) as JsonObject;
    expect(issued).toMatchObject({
      allow: ['a:*', 'b:x'],
      door: 'agent',
      concurrent: 2,
      label: 'me',
      read_only: false,
      calls: null,
      used: 0,
    });
    const listed = await grant('list', '--json');
    const { grants } = JSON.parse(listed.stdout) as { grants: JsonObject[] };
    const { token, ...terms } = issued;
    expect(grants).toContainEqual(terms);
    expect(listed.stdout + readFileSync(join(home, 'state/notebridge/grants.json'), 'utf8')).not.toContain(token);
    const text = await grant('list');
    expect(text.stdout).toMatch(/^g_[\da-f]{12} +agent +60 min +0 +a:\* b:x +me$/m);
  });

  it('--file writes it for the owner alone, and prints no token', { tags: ['P-149'] }, async () => {
    const file = join(home, 'token');
    const { stdout, stderr } = await grant('--file', file);
    expect(stdout).toBe('');
    expect(stderr).toContain(`The token is in ${file}.`);
    expect(readFileSync(file, 'utf8')).toMatch(/^nbg_[\w-]{43}\n$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('--keep renews the token in the file until it is stopped, and leaves neither file nor grant, but lines in the audit', {
    tags: ['P-133', 'P-735'],
  }, async () => {
    const file = join(home, 'kept');
    const before = (await grant('list', '--json')).stdout;
    await using keeper = new Program({ args: ['grant', '--keep', '--file', file, '--ttl', '3s', '--allow', 'a:*'], env });
    await keeper.until(() => keeper.stderr.includes('is renewed there'));
    expect(keeper.stderr).toContain(`The token is in ${file}`);
    const first = readFileSync(file, 'utf8');
    expect(first).toMatch(/^nbg_[\w-]{43}\n$/);
    await expect.poll(() => readFileSync(file, 'utf8')).not.toBe(first);
    let live: JsonObject[] = [];
    const look = async (): Promise<number> => {
      const { grants } = JSON.parse((await grant('list', '--json')).stdout) as { grants: JsonObject[] };
      live = grants.filter(({ allow }) => JSON.stringify(allow) === '["a:*"]');
      return live.length;
    };
    // It may have expired, where its keeper is late.
    await expect.poll(look).toBeGreaterThan(0);
    expect(live).toHaveLength(1);
    keeper.child.kill('SIGTERM');
    expect(await keeper.ended).toBe(0);
    expect(existsSync(file)).toBe(false);
    expect((await grant('list', '--json')).stdout).toBe(before);
    const audit = linesOf(join(env.XDG_STATE_HOME ?? join(home, '.local/state'), 'notebridge/audit.jsonl'));
    const events = audit.map((line) => JSON.parse(line) as JsonObject).filter(({ grant_id: id }) => id === live[0]?.id);
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['grant_issued', 'grant_renewed', 'grant_revoked']));
  });

  it('a file that cannot be written leaves no grant behind', { tags: ['deep'] }, async () => {
    const before = (await grant('list', '--json')).stdout;
    const { ending, stderr } = await grant('--file', join(home, 'no', 'such', 'folder'));
    expect(ending).toBe(1);
    expect(stderr).toMatch(/^notebridge: Cannot write /);
    expect((await grant('list', '--json')).stdout).toBe(before);
  });

  it('revoke ends it, and says so of an id that is none', { tags: ['deep'] }, async () => {
    const { id } = JSON.parse((await grant('--json')).stdout) as { id: string };
    expect(await grant('revoke', id)).toEqual({ ending: 0, stdout: `Revoked ${id}.\n`, stderr: '' });
    const again = await grant('revoke', id);
    expect(again.ending).toBe(1);
    expect(again.stderr).toBe(
      `notebridge: There is no grant "${id}" that could be revoked. See the live ones with: node ${programFile} grant list\n`,
    );
  });

  it.each([
    [['--ttl', '5x'], '--ttl "5x"'],
    [['--ttl', '31d'], '--ttl "31d"'],
    [['--calls', '0'], '--calls "0"'],
    [['--rate', '1/s'], '--rate "1/s"'],
    [['--allow', ':x'], 'names no server'],
    [['--label', 'a\nb'], 'label'],
    [['--keep'], '--file'],
    [['lisst'], 'too many arguments'],
  ])('%j is refused with exit code 2', { tags: ['P-005'] }, async (args, message) => {
    const { ending, stdout, stderr } = await grant(...args);
    expect({ ending, stdout }).toEqual({ ending: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^notebridge: /);
  });
});
