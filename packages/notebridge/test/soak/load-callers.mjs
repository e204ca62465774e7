// Who calls in a soak: agents of both eras by the official clients, and sandboxes at the tool proxy. Each is asked one thing: `mark` a number.
import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/**
 * @typedef {{ tool: string, args: Record<string, unknown> }} Asked
 * @typedef {{ call(asked: Asked, signal: AbortSignal): Promise<string>, close(): Promise<void> }} OpenAgent
 */

const info = { name: 'soak', version: '1' };
/** The caller's own limit counts, not the client's. */
const timeout = 10 * 60_000;

/** An answer that says that the tool failed, or that the call was refused. */
export class Refused extends Error {}

/** @type {Record<string, (url: string, token: string) => Promise<OpenAgent>>} */
export const agentKinds = {
  'sdk-v1': async (url, token) => {
    const client = new ClientV1(info);
    const transport = new TransportV1(new URL('/mcp', url), { requestInit: withToken(token) });
    await client.connect(/** @type {any} */ (transport));
    return {
      call: async ({ tool, args }, signal) =>
        textOf(await client.callTool({ name: tool, arguments: args }, undefined, { signal, timeout })),
      close: () => endSession(transport, client),
    };
  },
  'sdk-v2': (url, token) => openV2(url, token, {}),
  modern: (url, token) => openV2(url, token, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
};

/** @param {string} url @param {string} token @param {import('@modelcontextprotocol/client').ClientOptions} options @returns {Promise<OpenAgent>} */
async function openV2(url, token, options) {
  const client = new ClientV2(info, options);
  const transport = new TransportV2(new URL('/mcp', url), { requestInit: withToken(token) });
  await client.connect(transport);
  return {
    call: async ({ tool, args }, signal) => textOf(await client.callTool({ name: tool, arguments: args }, { signal, timeout })),
    close: () => endSession(transport, client),
  };
}

/**
 * A session that is merely left holds its notebook for minutes, and no other agent may have that.
 * @param {{ terminateSession(): Promise<void> }} transport @param {{ close(): Promise<void> }} client
 */
async function endSession(transport, client) {
  try {
    await transport.terminateSession();
  } finally {
    await client.close();
  }
}

/** @param {string} token */
const withToken = (token) => ({ headers: { authorization: `Bearer ${token}` } });

/** @param {any} result */
function textOf({ content, isError }) {
  const text = (content ?? []).map((/** @type {any} */ block) => block.text ?? '').join('\n');
  if (isError === true) throw new Refused(text);
  return text;
}

/**
 * A call as code in a sandbox makes it. `key`: for a call that is made again.
 * @param {string} url @param {{ server: string, token: string, args: Record<string, unknown>, key?: string | undefined }} call @param {AbortSignal} signal
 */
export async function callByProxy(url, { server, token, args, key }, signal) {
  const response = await fetch(new URL(`/api/v1/mcp/proxy/${server}/tools/mark`, url), {
    method: 'POST',
    headers: { ...withToken(token).headers, 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: JSON.stringify({ arguments: args }),
    signal,
  });
  const answer = /** @type {any} */ (await response.json());
  if (answer.success !== true) throw new Refused(String(answer.error_code ?? answer.error ?? response.status));
  return String(answer.result);
}

/**
 * A grant for a sandbox, of which the owner says how much it may call.
 * @param {string} url @param {string} ownerToken @param {number} calls
 * @returns {Promise<{ id: string, token: string }>}
 */
export async function issueGrant(url, ownerToken, calls) {
  const response = await fetch(new URL('/api/v1/hub/grants', url), {
    method: 'POST',
    headers: { ...withToken(ownerToken).headers, 'content-type': 'application/json' },
    body: JSON.stringify({ allow: ['*:mark'], door: 'tools', calls, label: 'soak' }),
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Refused(`${response.status} ${await response.text()}`);
  const { grant, token } = /** @type {any} */ (await response.json());
  return { id: String(grant.id), token };
}
