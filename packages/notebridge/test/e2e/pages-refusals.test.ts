// @module-tag P-185

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bridge } from '../support/bridge.js';
import { Program } from '../support/program.js';
import { type HandshakeOptions, shakeHands, statusOf } from '../support/raw-handshake.js';
import { colabOrigin, RawPage } from '../support/raw-page.js';

type Varied = Omit<HandshakeOptions, 'port'>;

/** What a stranger can say, each with one thing changed from what is let in, and the answer that the contract (3.3) promises. */
function refusals({ port, token }: { port: number; token: string }): Record<string, [number, Varied]> {
  const half = token.slice(0, -1);
  const target = (text: string): Varied => ({ target: text });
  const origin = (value: string | string[] | undefined): Varied => ({ headers: { Origin: value } });
  const host = (value: string | string[] | undefined): Varied => ({ headers: { Host: value } });
  const subprotocol = (value: string | undefined): Varied => ({ headers: { 'Sec-WebSocket-Protocol': value } });
  const bearer = (value: string): Varied => ({ target: '/', headers: { Authorization: value } });
  return {
    'no credentials': [401, target('/')],
    'a key of another name': [401, target(`/?token=${token}`)],
    'a key in capitals': [401, target(`/?ACCESS_TOKEN=${token}`)],
    'the token as the whole query': [401, target(`/?${token}`)],
    'an empty token': [403, target('/?access_token=')],
    'a key without a value': [403, target('/?access_token')],
    'a prefix of the token': [403, target(`/?access_token=${half}`)],
    'the token and more': [403, target(`/?access_token=${token}A`)],
    'the token without its first letter': [403, target(`/?access_token=${token.slice(1)}`)],
    'the token in capitals': [403, target(`/?access_token=${token.toUpperCase()}`)],
    'the token inside another text': [403, target(`/?access_token=x${token}x`)],
    'a space behind the token': [403, target(`/?access_token=${token}%20`)],
    'a NUL behind the token': [403, target(`/?access_token=${token}%00`)],
    'a fragment behind the token': [403, target(`/?access_token=${token}#`)],
    'a token of 10,000 letters': [403, target(`/?access_token=${'A'.repeat(10_000)}`)],
    'a token that is no UTF-8': [403, target('/?access_token=%ff%fe')],
    'the token twice': [400, target(`/?access_token=${token}&access_token=${token}`)],
    'a wrong token, then the right one': [400, target(`/?access_token=x&access_token=${token}`)],
    'the right token, then a wrong one': [400, target(`/?access_token=${token}&access_token=x`)],
    'a wrong token in the query, the right one in the header': [
      403,
      { target: '/?access_token=x', headers: { Authorization: `Bearer ${token}` } },
    ],
    'a header without a scheme': [400, bearer(token)],
    'a header of another scheme': [400, bearer(`Basic ${token}`)],
    'a header with no token': [400, bearer('Bearer ')],
    'a header with a space inside': [400, bearer(`Bearer ${half} A`)],
    'a header with a quoted token': [400, bearer(`Bearer "${token}"`)],
    'a header with a wrong token': [403, bearer('Bearer abc')],
    'two headers with the token': [400, { target: '/', headers: { Authorization: [`Bearer ${token}`, `Bearer ${token}`] } }],
    'two headers, the second with the token': [400, { target: '/', headers: { Authorization: ['Bearer x', `Bearer ${token}`] } }],
    'the token in the query, and two headers': [400, { headers: { Authorization: ['Bearer x', 'Bearer y'] } }],
    'the token in the path': [404, target(`/${token}`)],
    'another path': [404, target(`/mcp?access_token=${token}`)],
    'two slashes': [404, target(`//?access_token=${token}`)],
    'a host in the path': [404, target(`//localhost:${port}/?access_token=${token}`)],
    'a backslash in the path': [404, target(`/\\evil?access_token=${token}`)],
    'a dot in the path': [404, target(`/.?access_token=${token}`)],
    'dots in the path': [404, target(`/x/..?access_token=${token}`)],
    'encoded dots in the path': [404, target(`/%2e?access_token=${token}`)],
    'an encoded slash': [404, target(`/%2f?access_token=${token}`)],
    'an absolute target': [404, target(`http://localhost:${port}/?access_token=${token}`)],
    'an absolute target elsewhere': [404, target(`http://colab.research.google.com/?access_token=${token}`)],
    'no origin': [403, origin(undefined)],
    'an empty origin': [403, origin('')],
    'the origin null': [403, origin('null')],
    'an origin with a suffix': [403, origin(`${colabOrigin}.evil.example`)],
    'an origin with a prefix': [403, origin('https://evil-colab.research.google.com')],
    'an origin below ours': [403, origin('https://x.colab.research.google.com')],
    'an origin with a user': [403, origin('https://colab.research.google.com@evil.example')],
    'an origin with a port': [403, origin(`${colabOrigin}:443`)],
    'an origin in capitals': [403, origin('https://COLAB.research.google.com')],
    'an origin with a slash': [403, origin(`${colabOrigin}/`)],
    'an origin with a path': [403, origin(`${colabOrigin}/notebooks`)],
    'an origin without TLS': [403, origin('http://colab.research.google.com')],
    'an origin of WebSocket': [403, origin('wss://colab.research.google.com')],
    'a loopback origin': [403, origin(`http://localhost:${port}`)],
    'a loopback origin by number': [403, origin(`http://127.0.0.1:${port}`)],
    'an extension as origin': [403, origin('chrome-extension://abcdefghijklmnop')],
    'two origins': [403, origin([colabOrigin, 'https://evil.example'])],
    'the same origin twice': [403, origin([colabOrigin, colabOrigin])],
    'a list of origins': [403, origin(`${colabOrigin} https://evil.example`)],
    'no host': [403, host(undefined)],
    'an empty host': [403, host('')],
    'another host': [403, host(`evil.example:${port}`)],
    'a host that begins like ours': [403, host(`localhost.evil.example:${port}`)],
    'a host without the port': [403, host('localhost')],
    'a host with another port': [403, host(`localhost:${port + 1}`)],
    'a host with a user': [403, host(`localhost:${port}@evil.example`)],
    'another loopback host': [403, host(`127.0.0.2:${port}`)],
    'two hosts': [400, host([`localhost:${port}`, 'evil.example'])],
    'two hosts, ours last': [400, host(['evil.example', `localhost:${port}`])],
    'no subprotocol': [400, subprotocol(undefined)],
    'an empty subprotocol': [400, subprotocol('')],
    'another subprotocol': [400, subprotocol('mcp2')],
    'a subprotocol in capitals': [400, subprotocol('MCP')],
    'a list without ours': [400, subprotocol('chat, mcp-v2, x-mcp')],
    'a list that is broken': [400, subprotocol('mcp,,mcp')],
    'no key': [400, { headers: { 'Sec-WebSocket-Key': undefined } }],
    'a key that is none': [400, { headers: { 'Sec-WebSocket-Key': 'short' } }],
    'an old WebSocket version': [400, { headers: { 'Sec-WebSocket-Version': '6' } }],
    'an upgrade to something else': [400, { headers: { Upgrade: 'h2c' } }],
    'POST in place of GET': [405, { method: 'POST' }],
    'HEAD in place of GET': [405, { method: 'HEAD' }],
  };
}

/** What is let in, so that a refusal cannot come from something else. */
function welcomes({ port, token }: { port: number; token: string }): Record<string, Varied> {
  return {
    'what Colab sends': {},
    'the other origin of Colab': { headers: { Origin: 'https://colab.google.com' } },
    'the host by number': { headers: { Host: `127.0.0.1:${port}` } },
    'the host in capitals': { headers: { Host: `LOCALHOST:${port}` } },
    'the host by IPv6 number, over IPv6': { address: '::1', headers: { Host: `[::1]:${port}` } },
    'localhost over IPv6': { address: '::1' },
    'other keys in the query': { target: `/?a=1&access_token=${token}&b=2` },
    'a token that is encoded': { target: `/?access_token=${[...token].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')}` },
    'the token in the header': { target: '/', headers: { Authorization: `Bearer ${token}` } },
    'a scheme in capitals': { target: '/?', headers: { Authorization: `BEARER ${token}` } },
    'several subprotocols': { headers: { 'Sec-WebSocket-Protocol': 'chat, mcp' } },
    'subprotocols in two headers': { headers: { 'Sec-WebSocket-Protocol': ['chat', 'mcp'] } },
  };
}

const targets = {
  program: async () => {
    const program = await Program.open();
    return { ...(await program.address()), close: () => program.close() };
  },
  library: async () => {
    const bridge = await Bridge.open();
    return { ...bridge.address, close: () => bridge[Symbol.asyncDispose]() };
  },
};

// Names only: the values are known when the server runs.
const dummy = { port: 1, token: 'token' };

describe.each(Object.entries(targets))('the port for pages of the %s', { tags: ['P-036', 'P-115'] }, (_name, open) => {
  let server: { port: number; token: string; close: () => Promise<unknown> };
  let statuses: Record<string, number> = {};

  beforeAll(async () => {
    server = await open();
    // All at once, since failed tries are slowed down.
    const replies = Object.entries(refusals(server)).map(async ([name, [, varied]]) => [name, await statusOf({ ...server, ...varied })]);
    statuses = Object.fromEntries(await Promise.all(replies));
  });

  afterAll(() => server.close());

  it.each(Object.entries(refusals(dummy)))('refuses %s: %i', (name, [status]) => {
    expect(statuses[name]).toBe(status);
  });

  it.each(Object.keys(welcomes(dummy)))('lets in %s', async (name) => {
    const { status, text, socket } = await shakeHands({ ...server, ...welcomes(server)[name] });
    socket.destroy();
    expect(status).toBe(101);
    expect(text.match(/^sec-websocket-protocol:.*$/gim)).toEqual(['Sec-WebSocket-Protocol: mcp']);
  });

  it('serves a page after all that', async () => {
    await using page = await RawPage.serve(server);
    expect(page.socket.protocol).toBe('mcp');
  });
});

describe('what the person allows', () => {
  it('lets in hosts and origins to the letter, but never null', { tags: ['P-037'] }, async () => {
    await using bridge = await Bridge.open({ allowHosts: ['Box.Example', 'tunnel:9000'], allowOrigins: ['https://mine.example', 'null'] });
    const { address } = bridge;
    const tryHost = (Host: string): Promise<number> => statusOf({ ...address, headers: { Host } });
    const tryOrigin = (Origin: string): Promise<number> => statusOf({ ...address, headers: { Origin } });
    expect(await tryHost(`box.example:${address.port}`)).toBe(101);
    expect(await tryHost('box.example')).toBe(101);
    expect(await tryHost('tunnel:9000')).toBe(101);
    expect(await tryHost('tunnel')).toBe(403);
    expect(await tryHost('box.example:9000')).toBe(403);
    expect(await tryOrigin('https://mine.example')).toBe(101);
    expect(await tryOrigin('https://mine.example:443')).toBe(403);
    expect(await tryOrigin('null')).toBe(403);
  });
});
