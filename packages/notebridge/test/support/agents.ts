import { rmSync } from 'node:fs';
import { type ClientOptions, Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { createHome, Program, programFile } from './program.js';

export interface AgentCallOptions {
  signal?: AbortSignal;
  onProgress?: (progress: JsonObject) => void;
}

/** What every agent can do, whichever SDK and protocol version it speaks. */
export interface Agent extends AsyncDisposable {
  listTools(): Promise<JsonObject[]>;
  callTool(name: string, args?: JsonObject, options?: AgentCallOptions): Promise<JsonObject>;
  /** Any other request. Rejects with what was answered as an error. */
  request(method: string, params: JsonObject): Promise<JsonObject>;
  /** Is told of each change of the tool list from now on. */
  onToolsChanged(listener: () => void): Promise<void>;
  /** The process that serves the agent. */
  readonly pid: number;
  close(): Promise<void>;
}

/** A Standard Schema that takes everything. */
const anyResult = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value: value as JsonObject }) },
} as const;

const clientInfo = { name: 'agent', version: '1' };

/** The protocol versions that a raw client opens with `initialize`. */
const legacyVersions = ['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export const modernVersion = '2026-07-28';

/** One agent of every kind: both SDKs, every way to agree on a version, and every version by hand. */
export const agentKinds: { name: string; open: (args?: string[]) => Promise<Agent> }[] = [
  { name: 'SDK v1', open: openSdkV1 },
  { name: 'SDK v2', open: (args) => openSdkV2({}, args) },
  { name: 'SDK v2, mode auto', open: (args) => openSdkV2({ versionNegotiation: { mode: 'auto' } }, args) },
  { name: `SDK v2, pinned to ${modernVersion}`, open: (args) => openSdkV2({ versionNegotiation: { mode: { pin: modernVersion } } }, args) },
  ...legacyVersions.map((version) => ({ name: `raw ${version}`, open: (args?: string[]) => openRawLegacy(version, args) })),
  { name: `raw ${modernVersion}`, open: openRawModern },
];

async function openSdkV1(args: string[] = []): Promise<Agent> {
  const { home, env } = createHome();
  const client = new ClientV1(clientInfo);
  const transport = new StdioV1({ command: process.execPath, args: [programFile, ...args], env, stderr: 'ignore' });
  await client.connect(transport);
  return {
    pid: transport.pid ?? 0,
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, toolArgs, { signal, onProgress } = {}) =>
      client.callTool({ name, arguments: toolArgs ?? {} }, undefined, {
        ...(signal && { signal }),
        ...(onProgress && { onprogress: (progress) => onProgress({ ...progress }) }),
      }),
    request: (method, params) => client.request({ method, params }, ResultSchema),
    onToolsChanged: async (listener) => client.setNotificationHandler(ToolListChangedNotificationSchema, listener),
    ...closing(home, () => client.close()),
  };
}

async function openSdkV2(options: ClientOptions, args: string[] = []): Promise<Agent> {
  const { home, env } = createHome();
  const client = new ClientV2(clientInfo, options);
  const transport = new StdioV2({ command: process.execPath, args: [programFile, ...args], env, stderr: 'ignore' });
  await client.connect(transport);
  return {
    pid: transport.pid ?? 0,
    listTools: async () => (await client.listTools()).tools,
    callTool: (name, toolArgs, { signal, onProgress } = {}) =>
      client.callTool(
        { name, arguments: toolArgs ?? {} },
        { ...(signal && { signal }), ...(onProgress && { onprogress: (progress) => onProgress({ ...progress }) }) },
      ),
    request: (method, params) => client.request({ method, params }, anyResult) as Promise<JsonObject>,
    onToolsChanged: async (listener) => {
      client.setNotificationHandler('notifications/tools/list_changed', listener);
      if (client.getProtocolEra() === 'modern') await client.listen({ toolsListChanged: true });
    },
    ...closing(home, () => client.close()),
  };
}

async function openRawLegacy(version: string, args: string[] = []): Promise<Agent> {
  const program = new Program({ args });
  const { result } = await program.initialize(version);
  if (!isJsonObject(result) || result.protocolVersion !== version) throw new Error(`Asked for ${version}, got ${JSON.stringify(result)}`);
  return rawAgent(program, (params) => params);
}

async function openRawModern(args: string[] = []): Promise<Agent> {
  return rawAgent(new Program({ args }), withEnvelope);
}

/** The params of a modern request: the same, with what each such request says of itself. */
export function withEnvelope(params: JsonObject = {}): JsonObject {
  return { ...params, _meta: { ...envelope, ...(isJsonObject(params._meta) ? params._meta : {}) } };
}

export const envelope = {
  'io.modelcontextprotocol/protocolVersion': modernVersion,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': clientInfo,
};

function rawAgent(program: Program, toParams: (params: JsonObject) => JsonObject): Agent {
  let lastId = 0;
  const request = async (method: string, params: JsonObject, id: string | number = ++lastId): Promise<JsonObject> => {
    const answer = await program.request(method, toParams(params), id);
    if (isJsonObject(answer.error)) throw new Error(JSON.stringify(answer.error));
    return answer.result as JsonObject;
  };
  const watch = (method: string, listener: (params: JsonObject) => void): void => {
    program.onNotification((message) => {
      if (message.method === method) listener((message.params ?? {}) as JsonObject);
    });
  };
  return {
    pid: program.child.pid ?? 0,
    listTools: async () => (await request('tools/list', {})).tools as JsonObject[],
    callTool(name, args = {}, { signal, onProgress } = {}) {
      const id = ++lastId;
      if (onProgress !== undefined) watch('notifications/progress', onProgress);
      const meta = onProgress === undefined ? {} : { _meta: { progressToken: `progress-${id}` } };
      const answer = request('tools/call', { name, arguments: args, ...meta }, id);
      if (signal === undefined) return answer;
      // A cancelled request is not answered.
      return Promise.race([
        answer,
        new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => {
            program.notify('notifications/cancelled', toParams({ requestId: id, reason: 'changed my mind' }));
            reject(new Error('cancelled'));
          }),
        ),
      ]);
    },
    request: (method, params) => request(method, params),
    async onToolsChanged(listener) {
      watch('notifications/tools/list_changed', listener);
      if (toParams !== withEnvelope) return;
      program.write(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 'listen',
          method: 'subscriptions/listen',
          params: withEnvelope({ notifications: { toolsListChanged: true } }),
        }),
      );
      await program.notification('notifications/subscriptions/acknowledged');
    },
    close: async () => void (await program.close()),
    [Symbol.asyncDispose]: async () => void (await program.close()),
  };
}

function closing(home: string, closeClient: () => Promise<void>): Pick<Agent, 'close' | typeof Symbol.asyncDispose> {
  const close = async (): Promise<void> => {
    await closeClient();
    rmSync(home, { recursive: true, force: true });
  };
  return { close, [Symbol.asyncDispose]: close };
}
