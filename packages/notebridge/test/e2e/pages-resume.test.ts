import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { Bridge } from '../support/bridge.js';
import { Program } from '../support/program.js';
import { dialMany, handshakeText, statusOf } from '../support/raw-handshake.js';
import { colabOrigin, type PageAnswer, RawPage, type RawPageOptions } from '../support/raw-page.js';

const origin = 'https://page.example';
const resumeKey = 'notebridge/resume_token';
const listChanged = 'notifications/tools/list_changed';

function greetingOf({ params }: JsonObject, members: JsonObject): PageAnswer {
  const { protocolVersion } = params as JsonObject;
  return { result: { protocolVersion, capabilities: {}, serverInfo: { name: 'page', version: '1' }, ...members } };
}

/** Answers as a page that keeps the resume token it is given. */
const keeps = (request: JsonObject): PageAnswer =>
  request.method === 'initialize' ? greetingOf(request, { _meta: { [resumeKey]: true } }) : undefined;
/** A page that is gone before it has answered. */
const never = (): Promise<PageAnswer> => new Promise(() => {});

/** The token that the page was offered; undefined for none. */
async function offeredTo(page: RawPage): Promise<string | undefined> {
  const { params } = await page.message('initialize');
  return ((params as JsonObject)._meta as JsonObject | undefined)?.[resumeKey] as string | undefined;
}

/** The reason with which a socket is closed, in the bytes of the close frame. */
function farewellOn(socket: Socket): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const farewell = /Server is busy|The access token has ended/.exec(text)?.[0];
      if (farewell !== undefined) resolve(farewell);
    });
  });
}

function openProgram(...args: string[]): Promise<Program> {
  return Program.open({ args: ['--allow-origin', origin, ...args] });
}

/** Ends the page, and waits until agents are told. */
async function leave(page: RawPage, program: Program): Promise<void> {
  const told = program.countOf(listChanged);
  await page.close();
  await program.notification(listChanged, told);
}

/** A page that comes, is called, and goes. Gives the token that it was offered. */
async function visit(program: Program, options: RawPageOptions): Promise<string> {
  const told = program.countOf(listChanged);
  const page = await RawPage.serve(options);
  await program.notification(listChanged, told);
  const offered = await offeredTo(page);
  await leave(page, program);
  return offered ?? '';
}

describe('the resume token, by the program', () => {
  it('takes the place of the token by which a page came, and the next page that is opened gets another', { tags: ['P-117'] }, async () => {
    await using program = await openProgram();
    const { port, token } = await program.address();
    const statusBy = (tried: string): Promise<number> => statusOf({ port, token: tried, headers: { Origin: origin } });
    const second = await visit(program, { port, token, origin, answer: keeps });
    expect(second).toMatch(/^[\w-]{43}$/);
    expect(await statusBy(token)).toBe(403);

    const third = await visit(program, { port, token: second, origin, answer: keeps });
    expect(await statusBy(second)).toBe(403);
    const opened = await program.address();
    expect(opened).toMatchObject({ port });
    expect(new Set([token, second, third, opened.token]).size).toBe(4);
    await visit(program, { port, token: opened.token, origin, answer: keeps });
    expect(await statusBy(opened.token)).toBe(403);
    // The page that was there before may still come back.
    await visit(program, { port, token: third, origin, answer: keeps });
  });

  it('is not forced on a page that knows nothing of it', { tags: ['deep'] }, async () => {
    await using program = await openProgram();
    const { port, token } = await program.address();
    for (let times = 0; times < 3; times++) expect(await visit(program, { port, token, origin })).not.toBe('');
    expect(await program.address()).toMatchObject({ port, token });
  });

  it('is not offered to Colab, whose page keeps its token for as long as it likes', { tags: ['P-117'] }, async () => {
    await using program = await openProgram();
    const { port, token } = await program.address();
    await using page = await RawPage.serve({ port, token, answer: keeps });
    const { params } = await page.message('initialize');
    expect(Object.keys(params as JsonObject)).toEqual(['protocolVersion', 'capabilities', 'clientInfo']);
    expect(page.received.join()).not.toContain(resumeKey);
    await program.notification(listChanged);
    await leave(page, program);
    // Even for others it stays as it was.
    expect(await visit(program, { port, token, origin, answer: keeps })).toBe('');
    expect(await visit(program, { port, token, answer: keeps })).toBe('');
    expect(await program.address()).toMatchObject({ port, token });
  });

  it('lets a page in that left between the offer and its answer, by whichever token it has', { tags: ['deep'] }, async () => {
    await using program = await openProgram();
    const { port, token } = await program.address();
    const drop = async (by: string): Promise<string> => {
      const page = await RawPage.connect({ port, token: by, origin, answer: never });
      const offered = (await offeredTo(page)) ?? '';
      await page.close();
      return offered;
    };
    const second = await drop(token);
    expect(await drop(token)).toBe(second);
    const third = await drop(second);
    expect(third).not.toBe(second);
    expect(await statusOf({ port, token, headers: { Origin: origin } })).toBe(403);
    expect(await drop(second)).toBe(third);
    expect(await visit(program, { port, token: third, origin, answer: keeps })).not.toBe('');
    expect(await statusOf({ port, token: second, headers: { Origin: origin } })).toBe(403);
  });

  it('is known to a page whose handshake failed after it took it', { tags: ['deep'] }, async () => {
    await using program = await openProgram();
    const { port, token } = await program.address();
    const answer = (request: JsonObject): PageAnswer =>
      greetingOf(request, { protocolVersion: '1999-01-01', _meta: { [resumeKey]: true } });
    const page = await RawPage.connect({ port, token, origin, answer });
    const second = (await offeredTo(page)) ?? '';
    await page.closed;
    await visit(program, { port, token: second, origin, answer: keeps });
    expect(await statusOf({ port, token, headers: { Origin: origin } })).toBe(403);
  });

  it('leaves the living page its place, and whoever was opened before its way back', { tags: ['deep'] }, async () => {
    await using program = await openProgram();
    const { port, token } = await program.address();
    const right = await visit(program, { port, token, origin, answer: keeps });
    const other = await program.address();
    const hostile = await RawPage.serve({ port, token: other.token, origin, answer: keeps });
    await program.notification(listChanged, 2);
    let hostileToken = (await offeredTo(hostile)) ?? '';
    expect(await RawPage.connect({ port, token: right, origin }).then(({ closed }) => closed)).toBe(1013);
    await leave(hostile, program);
    for (let times = 0; times < 5; times++) {
      hostileToken = await visit(program, { port, token: hostileToken, origin, answer: keeps });
    }
    await visit(program, { port, token: right, origin, answer: keeps });
  });

  it('stands in no log, nor does any other token', { tags: ['P-116'] }, async () => {
    const logDir = mkdtempSync(join(tmpdir(), 'notebridge-logs-'));
    const program = await openProgram('--log-dir', logDir, '--log-level', 'debug');
    try {
      const { port, token: first } = await program.address();
      const page = await RawPage.serve({ port, token: first, origin, answer: keeps });
      await program.notification(listChanged);
      const second = (await offeredTo(page)) ?? '';
      // What a page says as it leaves is logged. The first token opens nothing any more.
      page.socket.close(4000, `it was ${second}`);
      await program.notification(listChanged, 1);
      const again = await RawPage.connect({ port, token: second, origin, answer: never });
      const third = (await offeredTo(again)) ?? '';
      again.send(`not JSON: ${second} ${third}`);
      again.socket.close(4000, `${second} ${third}`);
      await again.closed;
      const { token: next } = await program.address();
      expect(await statusOf({ port, token: first, headers: { Origin: origin } })).toBe(403);
      const last = await RawPage.serve({ port, token: next, origin });
      last.socket.close(4000, `it was ${next}`);
      await last.closed;
      await program.close();

      const logged = readdirSync(logDir).map((file) => readFileSync(join(logDir, file), 'utf8'));
      const written = logged.join('') + program.stderr;
      expect(written).toContain('it was [redacted]');
      expect(written).toContain('[redacted] [redacted]');
      for (const token of [first, second, third, next]) expect(written).not.toContain(token);
    } finally {
      await program.close();
      rmSync(logDir, { recursive: true, force: true });
    }
  });
});

describe('the resume token, in a library', () => {
  it('changes nothing of what the Colab page is sent, to the letter', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open({ allowOrigins: [origin] });
    await using page = await RawPage.serve({ ...bridge.address, origin: colabOrigin });
    expect(page.received[0]).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"notebridge","version":"0"}}}',
    );
  });

  it('is for every page of a profile that does not say otherwise', { tags: ['deep'] }, async () => {
    const profile = { name: 'mine', title: 'Mine', origins: [origin], defaultUrl: `${origin}/`, tools: [] };
    const secrets = new Set<string>();
    await using bridge = await Bridge.open({ profile, secrets });
    const { port, token } = bridge.address;
    await using page = await RawPage.serve({ port, token, origin, answer: keeps });
    const offered = await offeredTo(page);
    expect(bridge.wss.token).not.toBe(token);
    expect(secrets).toEqual(new Set([bridge.wss.token, offered]));
  });

  it('ends a token also for a page that waits for its turn by it', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open({ allowOrigins: [origin] });
    const { port, token } = bridge.address;
    const first = await RawPage.connect({ port, token, origin, answer: never });
    const { id, ...request } = await first.message('initialize');
    first.socket.pause();
    using waiting = await dialMany(port, 2, handshakeText({ port, token, headers: { Origin: origin } }));
    const told = waiting.map(farewellOn);
    // Both wait by now: they came before this one was answered.
    expect(await statusOf({ port, token: 'wrong', headers: { Origin: origin } })).toBe(403);
    first.send({ jsonrpc: '2.0', id, ...(keeps(request) as JsonObject) });
    expect(await Promise.race(told)).toBe('Server is busy');
    first.socket.terminate();
    expect((await Promise.all(told)).sort()).toEqual(['Server is busy', 'The access token has ended']);
    expect(bridge.session.wss?.connectionLive.isSet()).toBe(false);
  });

  it('admits nobody any more when the slot is closed', { tags: ['deep'] }, async () => {
    await using bridge = await Bridge.open({ allowOrigins: [origin] });
    const { port, token } = bridge.address;
    const page = await RawPage.serve({ port, token, origin, answer: keeps });
    const resume = (await offeredTo(page)) ?? '';
    const { slot } = bridge.wss;
    const { token: entry } = slot;
    slot.close();
    await page.closed;
    for (const tried of [token, resume, entry]) expect(await statusOf({ port, token: tried, headers: { Origin: origin } })).toBe(403);
  });
});
