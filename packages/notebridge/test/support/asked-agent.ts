import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { JsonObject } from '@notebridge/protocol/json';
import { modernVersion } from './agents.js';
import { untilBrokerEnded } from './broker.js';
import { createHome, programFile } from './program.js';
import type { ServedHub, ServersForTest } from './served-hub.js';

/** What an agent is asked: a request of the legacy era, or one inside `input_required`. */
export interface Asked {
  method: string;
  params: JsonObject;
}

export interface AskedAgentOptions {
  era: Era;
  /** What it calls itself. Default `asked`. */
  name?: string;
  /** What it declares. Default: everything. */
  capabilities?: JsonObject;
  /** How it answers. Default: `answerAll`. */
  answer?: (asked: Asked, signal: AbortSignal) => JsonObject | Promise<JsonObject>;
  /** It asks for progress, and is told here what stands in it. */
  onProgress?: (message: string | undefined) => void;
}

/** An agent, by the official SDK, that answers what servers ask. */
export interface AskedAgent {
  /** All it was asked, in order. */
  readonly asked: Asked[];
  /** The texts of the result. Rejects with a protocol error. */
  call(tool: string, args?: JsonObject, signal?: AbortSignal): Promise<string>;
  /** The names of the tools that it is listed. */
  tools(): Promise<string[]>;
  /** Goes away. Closing twice is harmless. */
  close(): Promise<void>;
}

export const everyCapability = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

/** Its name is Ada, it opens URLs, its model says hi, and it has one root. */
function answerAll({ method }: Asked): JsonObject {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///ada' }] };
  if (method === 'sampling/createMessage') return { model: 'm', role: 'assistant', content: { type: 'text', text: 'hi' } };
  return { action: 'accept', content: { name: 'Ada' } };
}

/** Over HTTP, at a hub that runs. */
export function openAtHub(hub: ServedHub, options: AskedAgentOptions, token = hub.ownerToken): Promise<AskedAgent> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return open(new StreamableHTTPClientTransport(new URL('/mcp', hub.url), { requestInit }), options);
}

/** Over stdio, with a Notebridge of its own that has these servers. */
export function openOnStdio(servers: ServersForTest, options: AskedAgentOptions, more: string[] = ['--standalone']): Promise<AskedAgent> {
  return openCommand(servers, options, (config) => ['stdio', '--config', config, ...more]);
}

/** Over stdio, with another command of the program. */
export function openCommand(
  servers: ServersForTest,
  options: AskedAgentOptions,
  toWords: (config: string) => string[],
): Promise<AskedAgent> {
  const { home, env } = createHome();
  const config = join(home, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  const args = [programFile, ...toWords(config)];
  const close = async (): Promise<void> => {
    await untilBrokerEnded(join(home, 'state'));
    rmSync(home, { recursive: true, force: true });
  };
  return open(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }), { ...options, onClose: close });
}

async function open(
  transport: Transport,
  {
    era,
    name = 'asked',
    capabilities = everyCapability,
    answer = answerAll,
    onProgress,
    onClose,
  }: AskedAgentOptions & { onClose?: () => Promise<void> },
): Promise<AskedAgent> {
  const versionNegotiation = era === 'modern' ? { mode: { pin: modernVersion } } : undefined;
  const client = new Client({ name, version: '1' }, { capabilities, ...(versionNegotiation && { versionNegotiation }) });
  const asked: Asked[] = [];
  const take = (message: unknown, { mcpReq }: { mcpReq: { signal: AbortSignal } }): never => {
    const { method, params = {} } = message as Asked;
    asked.push({ method, params });
    // The SDK has another type for the answer to each method.
    return answer({ method, params }, mcpReq.signal) as never;
  };
  if ('elicitation' in capabilities) client.setRequestHandler('elicitation/create', take);
  if ('sampling' in capabilities) client.setRequestHandler('sampling/createMessage', take);
  if ('roots' in capabilities) client.setRequestHandler('roots/list', take);
  await client.connect(transport);
  return {
    asked,
    close: async () => {
      await client.close();
      await onClose?.();
    },
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, signal) => {
      const onprogress = onProgress && (({ message }: { message?: string | undefined }) => onProgress(message));
      const { content } = await client.callTool(
        { name, arguments: args },
        { ...(signal && { signal }), ...(onprogress && { onprogress }) },
      );
      return (content as { text?: string }[]).map(({ text }) => text).join('\n');
    },
  };
}
