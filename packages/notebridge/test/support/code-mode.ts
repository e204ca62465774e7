import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { type Agent, agentKinds, modernVersion } from './agents.js';
import { openLegacyAgent, openModernAgent, type SendMessage } from './http-agent.js';
import { ServedHub, type ServersForTest, withoutTypeCheck } from './served-hub.js';

/** An answer of `execute_code`, as an agent reads it. */
export interface CodeAnswer {
  /** The text blocks, in order. */
  texts: string[];
  images: JsonObject[];
  /** The structured content. */
  status: unknown;
  result: unknown;
  session: unknown;
  runId: unknown;
  calls: unknown;
  isError: boolean;
  /** Of a failure of ours. */
  code: unknown;
}

export function toCodeAnswer(result: JsonObject): CodeAnswer {
  const content = (Array.isArray(result.content) ? result.content : []) as JsonObject[];
  const about = isJsonObject(result.structuredContent) ? result.structuredContent : {};
  return {
    texts: content.filter(({ type }) => type === 'text').map(({ text }) => String(text)),
    images: content.filter(({ type }) => type === 'image'),
    ...{ status: about.status, result: about.result, session: about.session, runId: about.run_id, calls: about.calls },
    isError: result.isError === true,
    code: isJsonObject(result._meta) ? result._meta['notebridge/error_code'] : undefined,
  };
}

/** An agent at a door, in code mode. */
export interface CodeAgent extends AsyncDisposable {
  names(): Promise<string[]>;
  execute(args: JsonObject): Promise<CodeAnswer>;
  callTool(name: string, args: JsonObject): Promise<JsonObject>;
}

export interface CodeDoor {
  name: string;
  /** The agent has a session of its own, in which variables live without a handle. */
  hasSession: boolean;
  open(options: { folder: string; servers: ServersForTest; notebridge?: JsonObject; args?: string[] }): Promise<CodeAgent>;
}

/** The real program at each of its doors for agents, in both eras. */
export const codeDoors: CodeDoor[] = [
  { name: 'stdio, legacy', hasSession: true, open: (options) => openStdio('SDK v1', options) },
  { name: 'stdio, modern', hasSession: true, open: (options) => openStdio(`SDK v2, pinned to ${modernVersion}`, options) },
  { name: 'HTTP, legacy', hasSession: true, open: (options) => openHttp(openLegacyAgent, options) },
  { name: 'HTTP, modern', hasSession: false, open: (options) => openHttp(async (...of) => openModernAgent(...of), options) },
];

type OpenOptions = Parameters<CodeDoor['open']>[0];

async function openStdio(kind: string, { folder, servers, notebridge = {}, args = [] }: OpenOptions): Promise<CodeAgent> {
  const file = join(folder, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: servers, notebridge: withoutTypeCheck(notebridge) }));
  const agent = await agentKinds.find(({ name }) => name === kind)?.open(['stdio', '--code-mode', '--config', file, ...args]);
  if (agent === undefined) throw new Error(`There is no agent "${kind}".`);
  return toCodeAgent(agent);
}

function toCodeAgent(agent: Agent): CodeAgent {
  return {
    names: async () => (await agent.listTools()).map(({ name }) => String(name)),
    execute: async (args) => toCodeAnswer(await agent.callTool('execute_code', args)),
    callTool: (name, args) => agent.callTool(name, args),
    [Symbol.asyncDispose]: () => agent.close(),
  };
}

async function openHttp(
  open: (hub: ServedHub, asWhom: () => string) => Promise<SendMessage>,
  { servers, notebridge = {}, args = ['--notebook', 'none'] }: OpenOptions,
): Promise<CodeAgent> {
  const hub = await ServedHub.start({ servers, notebridge, args: ['--code-mode', ...args] });
  const send = await open(hub, () => hub.ownerToken);
  return { ...toHttpCodeAgent(send), [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose]() };
}

export function toHttpCodeAgent(send: SendMessage): Omit<CodeAgent, typeof Symbol.asyncDispose> {
  const call = async (name: string, args: JsonObject): Promise<JsonObject> => {
    const { result, error } = await send('tools/call', { name, arguments: args });
    if (result === undefined) throw new Error(JSON.stringify(error));
    return result;
  };
  return {
    async names() {
      const { result = {} } = await send('tools/list');
      return (result.tools as JsonObject[]).map(({ name }) => String(name));
    },
    execute: async (args) => toCodeAnswer(await call('execute_code', args)),
    callTool: call,
  };
}
