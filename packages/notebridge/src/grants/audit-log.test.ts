// @module-tag P-138

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createContext } from '../../test/support/create-context.js';
import type { AuditEntry } from './audit-line.js';
import { AuditLog, type AuditLogOptions } from './audit-log.js';

const writer = fileURLToPath(new URL('../../test/fixtures/audit-writer.mjs', import.meta.url));
let dir: string;
const path = (): string => join(dir, 'audit.jsonl');
const open = (options: Partial<AuditLogOptions> = {}): AuditLog => {
  const audit = new AuditLog({ path: path(), redactor: new Redactor(), ...options });
  audit.open();
  return audit;
};
const entry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  context: createContext('tools/call'),
  method: 'tools/call',
  address: { server: 'github', tool: 'star_repo' },
  args: undefined,
  result: { content: [] },
  outcome: 'ok',
  durationMs: 1.2345,
  endedAt: Date.now(),
  label: undefined,
  ...changes,
});
const linesOf = async (file = path()): Promise<string[]> => (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
const parsed = async (): Promise<JsonObject[]> => (await linesOf()).map((line) => JSON.parse(line) as JsonObject);

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'notebridge-audit-'));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

describe('AuditLog', () => {
  it('hands on each line in the order of the file, secrets taken out, whatever becomes of it there and in the file', async () => {
    const redactor = new Redactor();
    redactor.add('very-secret-label');
    const errors: string[] = [];
    const ignore = (): void => {};
    const logger = { debug: ignore, info: ignore, warn: ignore, error: (message: string) => errors.push(message) };
    const handedOn: string[] = [];
    const audit = open({
      redactor,
      logger,
      onLine: (line) => {
        handedOn.push(line);
        if (handedOn.length > 1) throw new Error('no stream');
      },
    });
    for (const outcome of ['a', 'b', 'c']) audit.add(entry({ outcome, label: 'very-secret-label' }));
    audit.add({ door: 'tools', reason: 'unknown', grantId: undefined, remote: 'public', times: 1, since: 0, endedAt: 0 });
    audit.close();
    expect(handedOn).toEqual(await linesOf());
    expect(handedOn).toHaveLength(4);
    expect(handedOn.join()).not.toContain('very-secret-label');
    expect(errors).toEqual(['Lines of the audit cannot be handed on: no stream. Calls go on.']);
  });

  it('writes who called what through which door, and what became of it, into a private file', async () => {
    const audit = open();
    const principal = { kind: 'grant', grantId: 'g_0123456789ab' } as const;
    const caller = { sessionId: 's1', door: 'tool-proxy', era: 'modern', clientInfo: { name: 'kernel "x"' }, principal } as const;
    audit.add(
      entry({
        context: createContext('tools/call', {}, { caller, callId: 'c1' }),
        args: { b: 1, a: 'x' },
        label: 'for bob',
        onBehalfOf: ['g_1', 'g_2'],
        outcome: 'denied',
        result: undefined,
      }),
    );
    audit.close();
    audit.close();
    expect(await parsed()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        call_id: 'c1',
        principal: 'grant',
        grant_id: 'g_0123456789ab',
        label: 'for bob',
        door: 'tool-proxy',
        session: 's1',
        client: 'kernel "x"',
        on_behalf_of: ['g_1', 'g_2'],
        server: 'github',
        tool: 'star_repo',
        outcome: 'denied',
        duration_ms: 1.23,
        bytes_in: expect.any(Number),
        // echo -n '{"a":"x","b":1}' | sha256sum
        args_sha256: 'cdab067e9f3beb32d1252cfd63e492592fecbf591b0d08cadb24bb17f3864246',
      },
    ]);
    expect((await stat(path())).mode & 0o777).toBe(0o600);
  });

  it('writes the lines of one turn together after it, and those of a busy time together, soon after the write before', async () => {
    const audit = open();
    audit.add(entry());
    audit.add(entry());
    expect(statSync(path()).size).toBe(0);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(await linesOf()).toHaveLength(2);
    audit.add(entry());
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    audit.add(entry());
    await expect.poll(linesOf).toHaveLength(4);
    audit.close();
  });

  it('has no argument and no secret in it, unless arguments are asked for, and then no secret', { tags: ['P-135'] }, async () => {
    const redactor = new Redactor();
    const secret = '-----KEY\n"secret"';
    const encoded = Buffer.from(secret).toString('base64');
    redactor.add(secret);
    const args = { text: `visible ${secret}`, encoded: `it is ${encoded}`, exact: parseJson('1.0') };
    const quiet = open({ redactor });
    quiet.add(entry({ args, label: '-----KEY', result: { content: [{ type: 'text', text: 'the result' }] } }));
    quiet.close();
    expect((await linesOf()).join()).not.toMatch(/visible|secret|the result/);
    const talking = open({ redactor, logArguments: true });
    talking.add(entry({ args }));
    talking.close();
    const [, line = ''] = await linesOf();
    expect(line).toContain('"arguments":{"text":"visible [redacted]","encoded":"it is ');
    expect(line).toContain('","exact":1.0}');
    expect(line).not.toContain(encoded);
    expect(Buffer.from(/it is ([^"]*)/.exec(line)?.[1] ?? '', 'base64').toString()).toContain('[redacted]');
    expect(line).not.toContain('secret');
  });

  it('measures and hashes huge values only in part, and says so', { tags: ['deep'] }, async () => {
    const audit = open();
    const args = { long: 'x'.repeat(5_000_000), many: Array.from({ length: 200_000 }, (_, index) => index) };
    audit.add(entry({ args, result: { content: [{ type: 'text', text: 'y'.repeat(9_000_000) }] } }));
    audit.close();
    const [line = {}] = await parsed();
    expect(line).toMatchObject({ args_sha256_of_first_64k: expect.stringMatching(/^[\da-f]{64}$/), bytes_in_at_least: expect.any(Number) });
    expect(line.bytes_out).toBeGreaterThan(9_000_000);
    expect(line).not.toHaveProperty('args_sha256');
  });

  it.each([false, true])('records a call however deep its arguments are nested (arguments too: %s)', async (logArguments) => {
    const audit = open({ logArguments });
    for (const depth of [5_000, 20_000, 1_000_000]) {
      let args: JsonObject = {};
      for (let level = 0; level < depth; level++) args = { a: args };
      audit.add(entry({ args, outcome: 'denied', result: undefined }));
    }
    audit.close();
    const lines = await parsed();
    expect(lines.map(({ outcome }) => outcome)).toEqual(['denied', 'denied', 'denied']);
    const printed = `${'{"a":'.repeat(5_000)}{}${'}'.repeat(5_000)}`;
    expect(lines[0]?.args_sha256).toBe(createHash('sha256').update(printed).digest('hex'));
    expect(lines[2]).toHaveProperty('args_sha256_of_first_64k');
    expect(lines[2]?.arguments_left_out).toBe(logArguments ? 'nested too deeply' : undefined);
  });

  it('hashes the same arguments alike, whatever the order of their keys', async () => {
    const audit = open();
    audit.add(entry({ args: { a: { c: [1, { y: 1, x: 2 }], b: 'ü' }, z: null } }));
    audit.add(entry({ args: { z: null, a: { b: 'ü', c: [1, { x: 2, y: 1 }] } } }));
    audit.add(entry({ args: { z: null, a: { b: 'ü', c: [{ x: 2, y: 1 }, 1] } } }));
    audit.close();
    const [first, second, third] = (await parsed()).map((line) => line.args_sha256);
    expect(first).toBe(second);
    expect(third).not.toBe(first);
  });

  it('starts a new line after one that was cut off', async () => {
    await writeFile(path(), '{"time":"whole"}\n{"time":"cut o', { mode: 0o600 });
    const audit = open();
    audit.add(entry());
    audit.close();
    const lines = await linesOf();
    expect(lines).toEqual(['{"time":"whole"}', '{"time":"cut o', expect.stringMatching(/^\{.*\}$/)]);
  });

  it('keeps five full files, the newest as number one', { tags: ['P-137'] }, async () => {
    const audit = open({ maxBytes: 1000 });
    for (let call = 0; call < 60; call++) {
      audit.add(entry({ context: createContext('tools/call', {}, { callId: `c${call}` }) }));
      audit.flush();
    }
    audit.close();
    expect((await readdir(dir)).sort()).toEqual(['audit.jsonl', ...[1, 2, 3, 4, 5].map((number) => `audit.jsonl.${number}`)]);
    const newest = (await linesOf(`${path()}.1`)).at(-1) ?? '';
    const [after = ''] = await linesOf();
    expect(Number(/"c(\d+)"/.exec(after)?.[1]) - Number(/"c(\d+)"/.exec(newest)?.[1])).toBe(1);
  });

  it('goes on without a file when its folder cannot be used', { tags: ['deep'] }, async () => {
    const said: string[] = [];
    const say = (message: string): void => void said.push(message);
    await writeFile(join(dir, 'file'), '');
    const audit = open({ path: join(dir, 'file', 'audit.jsonl'), logger: { debug: say, info: say, warn: say, error: say } });
    audit.add(entry());
    audit.close();
    expect(said).toEqual([
      expect.stringContaining('cannot be written'),
      `Up to 1 lines are missing at the end of the audit "${join(dir, 'file', 'audit.jsonl')}".`,
    ]);
  });

  it('reports at its end lines that are missing, if no call came since it can be written again', { tags: ['deep'] }, async () => {
    const file = join(dir, 'file', 'audit.jsonl');
    await writeFile(join(dir, 'file'), '');
    const audit = open({ path: file });
    audit.add(entry());
    audit.flush();
    await rm(join(dir, 'file'));
    audit.close();
    expect((await linesOf(file)).map((line) => JSON.parse(line) as JsonObject)).toEqual([
      { time: expect.any(String), lost_lines_at_most: 1 },
    ]);
  });
});

describe('the audit of several processes', () => {
  const start = (name: string, maxBytes: number, turns = ''): ReturnType<typeof spawn> =>
    spawn(process.execPath, [writer, path(), name, String(maxBytes), turns], { stdio: ['ignore', 'pipe', 'inherit'] });

  it('has every line that is older than ten milliseconds after a kill -9, eight times over', {
    tags: ['P-136'],
    timeout: 120_000,
  }, async () => {
    const confirmed = new Map<string, number>();
    for (let round = 0; round < 8; round++) {
      const child = start(`r${round}`, 1e9);
      const ended = once(child, 'close');
      let last = 0;
      if (child.stdout === null) throw new Error('no stdout');
      for await (const line of createInterface({ input: child.stdout })) {
        last = Number(line);
        if (last >= 40 + 50 * round) child.kill('SIGKILL');
      }
      await ended;
      confirmed.set(`r${round}`, last);
    }
    const counts = new Map<string, number>();
    let torn = 0;
    for (const line of await linesOf()) {
      // A kill may cut the write of its moment off; the next process must have started a line of its own.
      if (!line.endsWith('}')) torn++;
      else counts.set(...countOf(JSON.parse(line) as JsonObject, counts));
    }
    expect(torn).toBeLessThanOrEqual(8);
    for (const [name, lines] of confirmed) expect(counts.get(name)).toBeGreaterThanOrEqual(lines);
    // Eight programs one after the other take their time on a busy machine.
  });

  it('is rotated by one of them, and loses and doubles no line', { tags: ['P-137'], timeout: 120_000 }, async () => {
    const children = ['a', 'b', 'c'].map((name) => start(name, 400_000, '100'));
    for (const child of children) child.stdout?.resume();
    await Promise.all(children.map((child) => once(child, 'close')));
    const files = await readdir(dir);
    expect(files).toContain('audit.jsonl.1');
    const ids = (await Promise.all(files.map((name) => linesOf(join(dir, name)))))
      .flat()
      .map((line) => (JSON.parse(line) as JsonObject).call_id);
    expect(ids).toHaveLength(6000);
    expect(new Set(ids).size).toBe(6000);
  });
});

function countOf({ session }: JsonObject, counts: ReadonlyMap<string, number>): [string, number] {
  return [String(session), (counts.get(String(session)) ?? 0) + 1];
}
