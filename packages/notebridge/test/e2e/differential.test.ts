// @module-tag deep
// @module-tag P-045

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { envelope } from '../support/agents.js';
import { type OddMessage, oddIds, oddMessages } from '../support/odd-messages.js';
import { Program } from '../support/program.js';
import { compact, membersOf, sorted } from '../support/raw-json.js';
import { RawPage } from '../support/raw-page.js';

/** What one exchange looks like from both ends, as raw text. */
interface Exchange {
  /** The params that the page received. */
  params: string;
  /** The result or error that the caller got. */
  answer: string;
}

let direct: DirectLine;
let bridged: BridgedLine;

beforeAll(async () => {
  direct = await DirectLine.open();
  bridged = await BridgedLine.open();
});

afterAll(async () => {
  await direct.close();
  await bridged.close();
});

const ids = oddIds.map((id) => ({ id, shown: id.slice(0, 30) }));

it('there are more than a hundred odd messages, no two of one name', () => {
  expect(oddMessages.length).toBeGreaterThan(100);
  expect(new Set(oddMessages.map(({ name }) => name)).size).toBe(oddMessages.length);
});

describe('an agent of the legacy era', () => {
  it.each(oddMessages)('meets no difference between the page and the page behind the bridge: $name', async (odd) => {
    const straight = await direct.exchange(odd);
    const crossed = await bridged.exchange(odd);
    const form = odd.isReordered === true ? sorted : compact;
    expectSameText(crossed.params, straight.params, form);
    expectSameText(crossed.answer, odd.legacyResult ?? straight.answer, form);
  });
});

describe('an agent of the modern era', () => {
  it.each(oddMessages.filter(canBeModern))('meets only what its era adds: $name', async (odd) => {
    const straight = await direct.exchange(odd);
    const crossed = await bridged.exchange({ ...odd, params: withEnvelopeText(odd.params) });
    expectSameText(crossed.params, straight.params, sorted);
    const isError = membersOf(`{${odd.answer}}`).get('error')?.startsWith('{') === true;
    expectSameText(isError ? crossed.answer : withoutStamps(crossed.answer, straight.answer), straight.answer, sorted);
  });
});

it.each(ids)('a request with the id $shown is answered under it', async ({ id }) => {
  const [line] = await Promise.all([
    bridged.lineWhere((members) => members.has('result') && members.get('id') === compact(id)),
    bridged.program.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`),
  ]);
  expect(membersOf(line).get('result')).toBe('{}');
});

it.each(ids)('progress comes under the token $shown', async ({ id: token }) => {
  const odd = { name: '', params: `{"name":"odd","_meta":{"progressToken":${token}}}`, answer: '"result":{}' };
  const progressed = bridged.lineWhere((members) => members.get('method') === '"notifications/progress"');
  await bridged.exchange(odd, '"progress":1.0,"total":1e400,"message":"\\u0000","x":[null]');
  const params = membersOf(membersOf(await progressed).get('params') ?? '');
  expect(params.get('progressToken')).toBe(compact(token));
  expect([params.get('progress'), params.get('total'), params.get('message'), params.get('x')]).toEqual([
    '1.0',
    '1e400',
    '"\\u0000"',
    '[null]',
  ]);
});

it.each(oddMessages.filter(({ params, isReordered }) => params.length < 100_000 && isReordered !== true))(
  'notifications pass both ways: $name',
  async ({ params }) => {
    const method = '"notifications/odd"';
    const crossed = bridged.lineWhere((members) => members.get('method') === method);
    bridged.page.send(`{"jsonrpc":"2.0","method":${method},"params":${params}}`);
    expectSameText(membersOf(await crossed).get('params') ?? '', params, compact);
    const before = bridged.page.received.length;
    bridged.program.write(`{"jsonrpc":"2.0","method":${method},"params":${params}}`);
    await bridged.page.until((messages) => messages.length > before);
    expectSameText(membersOf(bridged.page.received[before] ?? '').get('params') ?? '', params, compact);
  },
);

it('a list of odd tools comes whole, after the open tool', async () => {
  const schema = '"inputSchema":{"type":"object"';
  const tools = [
    `{"name":"1.0",${schema},"properties":{"__proto__":{"default":1.0,"maximum":1e400}},"x":null}}`,
    `{${schema}},"name":"名前 👍","annotations":{"title":"","x":[1.0]},"icons":[{"src":"data:,","y":1}],"execution":{"z":0}}`,
    `{"name":"constructor",${schema}},"outputSchema":{"type":"object","x":1.0},"_meta":{"a/b":12345678901234567890}}`,
    `{"name":"${'n'.repeat(128)}",${schema},"$ref":"#/$defs/a","$defs":{"a":{"const":-0}}}}`,
  ].join(',');
  const odd = {
    name: '',
    method: 'tools/list',
    params: '{"cursor":"\\u0000","x":1.0}',
    answer: `"result":{"tools":[${tools}],"nextCursor":"","x":1.0}`,
  };
  const [straight, crossed] = [await direct.exchange(odd), await bridged.exchange(odd)];
  expect(crossed.params).toBe(straight.params);
  expect(sorted(crossed.answer)).toBe(sorted(straight.answer));
  const { answer } = await bridged.exchange({ ...odd, params: '{}' });
  expect(membersOf(answer).get('tools')).toContain('[{"name":"open_colab_browser_connection",');
  expect(membersOf(answer).get('tools')?.endsWith(`,${tools}]`)).toBe(true);
});

/** Equal texts; a difference is shown by its surroundings, since texts may have megabytes. */
function expectSameText(actual: string, wanted: string, form: (text: string) => string): void {
  // Almost always nothing at all was changed, which is cheaper to see.
  if (actual === wanted) return;
  const [left, right] = [form(actual), form(wanted)];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  if (left !== right) expect(`…${left.slice(Math.max(0, at - 40), at + 80)}`).toBe(`…${right.slice(Math.max(0, at - 40), at + 80)}`);
}

/** Whether the modern era can say it: its envelope needs params and a `_meta` that are objects, and it has fewer methods. */
function canBeModern({ method, params, answer }: OddMessage): boolean {
  const meta = params.startsWith('{') ? (membersOf(params).get('_meta') ?? '{"x":1}') : '';
  return method !== 'resources/subscribe' && /^{\s*"/.test(meta) && !answer.includes('"_meta":null');
}

const envelopeText = JSON.stringify(envelope).slice(1, -1);

function withEnvelopeText(params: string): string {
  const members = membersOf(params);
  const meta = members.get('_meta');
  members.set('_meta', meta === undefined ? `{${envelopeText}}` : `{${envelopeText},${meta.trim().slice(1)}`);
  return toObjectText(members);
}

/** A result without what the modern era has added to it, and only that. */
function withoutStamps(crossed: string, straight: string): string {
  const [members, wanted] = [membersOf(crossed), membersOf(straight)];
  const stamps = { resultType: '"complete"', ttlMs: '0', cacheScope: '"private"' };
  for (const [key, value] of Object.entries(stamps)) if (!wanted.has(key) && members.get(key) === value) members.delete(key);
  const meta = membersOf(members.get('_meta') ?? '{}');
  expect(meta.delete('io.modelcontextprotocol/serverInfo')).toBe(true);
  if (meta.size === 0 && !wanted.has('_meta')) members.delete('_meta');
  else members.set('_meta', toObjectText(meta));
  return toObjectText(members);
}

function toObjectText(members: Map<string, string>): string {
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

/** A page that answers whatever it is asked with the text of the moment, and remembers the params it got. */
class ScriptedPage {
  odd: OddMessage = { name: '', params: '', answer: '"result":{}' };
  progress = '';

  readonly answer = ({ method, params }: Record<string, unknown>, page: RawPage): string | undefined => {
    if (method === 'initialize') return undefined;
    if (this.progress !== '') {
      const { progressToken } = (params as { _meta: Record<string, unknown> })._meta;
      page.send(
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${JSON.stringify(progressToken)},${this.progress}}}`,
      );
    }
    return this.odd.answer;
  };
}

/** The page without a bridge: its socket ends in this test. */
class DirectLine {
  readonly #server: WebSocketServer;
  readonly #script = new ScriptedPage();
  #socket!: WebSocket;
  #page!: RawPage;

  private constructor(server: WebSocketServer) {
    this.#server = server;
  }

  static async open(): Promise<DirectLine> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    const line = new DirectLine(server);
    const connected = once(server, 'connection');
    const { port } = server.address() as AddressInfo;
    line.#page = await RawPage.connect({ port, token: 'none', answer: line.#script.answer });
    [line.#socket] = (await connected) as [WebSocket];
    return line;
  }

  async exchange(odd: OddMessage): Promise<Exchange> {
    this.#script.odd = odd;
    const answered = once(this.#socket, 'message');
    this.#socket.send(toRequest(odd, '1', odd.params));
    const [data] = await answered;
    return { params: membersOf(this.#page.received.at(-1) ?? '').get('params') ?? '', answer: answerIn(String(data)) };
  }

  async close(): Promise<void> {
    await this.#page.close();
    this.#server.close();
  }
}

/** The page behind the real program. */
class BridgedLine {
  readonly program: Program;
  page!: RawPage;
  readonly #script = new ScriptedPage();
  readonly #watchers = new Set<(line: string) => void>();
  #lastId = 0;

  private constructor() {
    this.program = new Program({
      onLine: (line) => {
        for (const watch of this.#watchers) watch(line);
      },
    });
  }

  static async open(): Promise<BridgedLine> {
    const line = new BridgedLine();
    await line.program.initialize();
    line.page = await RawPage.serve({ ...(await line.program.address()), answer: line.#script.answer });
    return line;
  }

  async exchange(odd: OddMessage, progress = ''): Promise<Exchange> {
    this.#script.odd = odd;
    this.#script.progress = progress;
    const id = `"odd ${++this.#lastId}"`;
    const answered = this.lineWhere((members) => members.get('id') === id);
    this.program.write(toRequest(odd, id, odd.params));
    const answer = answerIn(await answered);
    return { params: membersOf(this.page.received.at(-1) ?? '').get('params') ?? '', answer };
  }

  /** The next line of the program whose members are those wanted. */
  lineWhere(isWanted: (members: Map<string, string>) => boolean): Promise<string> {
    return new Promise((resolve) => {
      const watch = (line: string): void => {
        if (!isWanted(membersOf(line))) return;
        this.#watchers.delete(watch);
        resolve(line);
      };
      this.#watchers.add(watch);
    });
  }

  async close(): Promise<void> {
    await this.page.close();
    await this.program.close();
  }
}

function toRequest({ method = 'tools/call' }: OddMessage, id: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
}

function answerIn(frame: string): string {
  const members = membersOf(frame);
  const error = members.get('error');
  return error === undefined || error === 'null' ? (members.get('result') ?? '') : error;
}
