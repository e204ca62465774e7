// @module-tag deep
// @module-tag P-368

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modernVersion, withEnvelope } from '../support/agents.js';
import { Program } from '../support/program.js';
import { membersOf } from '../support/raw-json.js';
import { temporaryPath } from '../support/upstreams.js';

const error = '{"code":-7.0,"message":"no","data":{"big":12345678901234567890,"x":{"y":1.0}},"retryable":true,"z":[1.50,null]}';
const ways = ['one JSON answer', 'an event stream', 'a bad status'] as const;

/**
 * A server over HTTP that fails each call with `error`. With `asks` it asks first, and notes the raw text of what is answered. With `cuts` it
 * closes the connection of the first message of each kind unread, as a server does with one that it takes for idle.
 */
async function openFailing(way: (typeof ways)[number], { asks = false, cuts = false }: { asks?: boolean; cuts?: boolean } = {}) {
  const cut = new Set<string | undefined>(cuts ? ['initialize', 'server/discover', 'tools/call'] : undefined);
  const answers: string[] = [];
  let callResponse: ServerResponse | undefined;
  const http = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    const body = await text(request);
    const { id, method } = JSON.parse(body) as { id?: unknown; method?: string };
    if (cuts && !cut.has(method)) {
      cut.add(method);
      return request.socket.destroy();
    }
    const reply = (members: string): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${members}}`;
    const json = (members: string, status = 200): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(reply(members));
    if (method === undefined) {
      answers.push(body);
      response.writeHead(202).end();
      return callResponse?.end(`data: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n\n`.replace('"id":1', `"id":${callId}`));
    }
    if (id === undefined) return response.writeHead(202).end();
    const capabilities = '"capabilities":{"tools":{}}';
    if (method === 'initialize')
      return json(`"result":{"protocolVersion":"2025-11-25",${capabilities},"serverInfo":{"name":"fails","version":"1"}}`);
    if (method === 'server/discover') return json(`"result":{"supportedVersions":["${modernVersion}"],${capabilities}}`);
    if (method === 'tools/list') return json('"result":{"tools":[{"name":"fail","inputSchema":{"type":"object"}}]}');
    if (way !== 'an event stream') return json(`"error":${error}`, way === 'a bad status' ? 400 : 200);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (!asks) return response.end(`data: ${reply(`"error":${error}`)}\n\n`);
    callId = JSON.stringify(id);
    callResponse = response;
    return response.write('data: {"jsonrpc":"2.0","id":"q","method":"roots/list"}\n\n');
  });
  let callId = '';
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, answers };
}

function openAgent(servers: JsonObject): { program: Program; lines: string[] } {
  const config = temporaryPath('mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  const lines: string[] = [];
  const args = ['stdio', '--notebook', 'none', '--standalone', '--config', config];
  const program = new Program({ args, onLine: (line) => lines.push(line) });
  onTestFinished(async () => void (await program.close()));
  return { program, lines };
}

/** An agent that is asked in the middle of a call, and answers with these members. */
async function answerWith(url: string, members: string): Promise<void> {
  const { program } = openAgent({ it: { url, era: 'legacy' } });
  const clientInfo = { name: 'test', version: '1' };
  await program.request('initialize', { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo });
  program.notify('notifications/initialized');
  const called = program.callTool('it__fail');
  const { id } = await program.notification('roots/list');
  program.write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${members}}`);
  expect(await called).toMatchObject({ result: { content: [] } });
}

describe('an error of a server over HTTP', () => {
  it.each(ways.flatMap((way) => (['legacy', 'modern'] as const).map((era) => [era, way] as const)))(
    'an error of the %s era reaches the agent whole, in %s',
    async (era, way) => {
      const { url } = await openFailing(way);
      const { program, lines } = openAgent({ it: { url, era } });
      const params = { name: 'it__fail', arguments: {} };
      if (era === 'legacy') await program.initialize('2025-11-25');
      await program.request('tools/call', era === 'legacy' ? params : withEnvelope(params), 'call');
      const line = lines.find((each) => membersOf(each).get('id') === '"call"') ?? expect.fail();
      expect(membersOf(line).get('error')).toBe(error);
    },
  );

  it('is none where a connection breaks under an answer, a notification or a list: each is sent again', { tags: ['P-745'] }, async () => {
    const { url, answers } = await openFailing('an event stream', { asks: true, cuts: true });
    await answerWith(url, '"result":{"roots":[]}');
    expect(answers).toHaveLength(1);
  });

  it('is one of the agent, to a question of the server, and arrives there whole', async () => {
    const { url, answers } = await openFailing('an event stream', { asks: true });
    await answerWith(url, `"error":${error}`);
    expect(answers.map((answer) => membersOf(answer).get('error'))).toEqual([error]);
  });
});
