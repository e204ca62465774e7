import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeHeaderValue } from '@notebridge/protocol/core/param-headers';
import { modernVersion } from '../agents.js';
import { addressIn, type PageAddress, Program } from '../program.js';
import { membersOf } from '../raw-json.js';
import { ServedHub, type ServersForTest } from '../served-hub.js';
import { Answers, type Lane } from './mirror-hosts.js';

export type DoorName = 'stdio' | 'http';
export type EraName = 'legacy' | 'modern';

/** A real program with its servers, by one of its doors. */
export interface OpenDoor {
  lane(era: EraName): Promise<Lane>;
  /** Where a page dials. */
  pageAddress(): Promise<PageAddress>;
  close(): Promise<void>;
}

const openTool = '{"name":"open_colab_browser_connection","arguments":{"wait_seconds":0}}';
const initialize = '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"differential","version":"1"}}';

export function openDoor(door: DoorName, servers: ServersForTest): Promise<OpenDoor> {
  return door === 'stdio' ? openStdioDoor(servers) : openHttpDoor(servers);
}

async function openStdioDoor(servers: ServersForTest): Promise<OpenDoor> {
  const answers = new Answers();
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-doors-'));
  const file = join(folder, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  const program = new Program({ args: ['stdio', '--config', file], onLine: (line) => answers.take(line) });
  await program.initialize('2025-11-25');
  return {
    lane: async () => ({ send: (request) => answers.of(request, () => program.write(request)), close: async () => {} }),
    pageAddress: () => program.address(),
    close: async () => {
      await program.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openHttpDoor(servers: ServersForTest): Promise<OpenDoor> {
  const hub = await ServedHub.start({ servers, args: ['--notebook', 'colab'] });
  const url = `${hub.url}/mcp`;
  const post = async (body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${hub.ownerToken}`,
        ...headers,
      },
      body,
    });
  const openLegacy = async (): Promise<Lane> => {
    const response = await post(`{"jsonrpc":"2.0","id":"open","method":"initialize","params":${initialize}}`);
    const headers = { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    await response.text();
    await (await post('{"jsonrpc":"2.0","method":"notifications/initialized"}', headers)).text();
    return { send: async (request) => answerIn(await (await post(request, headers)).text()), close: async () => {} };
  };
  const modern: Lane = {
    send: async (request) => answerIn(await (await post(request, modernHeaders(request))).text()),
    close: async () => {},
  };
  return {
    lane: (era) => (era === 'modern' ? Promise.resolve(modern) : openLegacy()),
    pageAddress: async () =>
      addressIn(await (await openLegacy()).send(`{"jsonrpc":"2.0","id":"page","method":"tools/call","params":${openTool}}`)),
    close: () => hub[Symbol.asyncDispose](),
  };
}

function modernHeaders(request: string): Record<string, string> {
  const members = membersOf(request);
  const params = membersOf(members.get('params') ?? '{}');
  const method = String(JSON.parse(members.get('method') ?? '""'));
  const name = params.get(method === 'resources/read' ? 'uri' : 'name');
  const isNamed = ['tools/call', 'prompts/get', 'resources/read'].includes(method) && name?.startsWith('"');
  return {
    'mcp-protocol-version': modernVersion,
    'mcp-method': method,
    ...(isNamed ? { 'mcp-name': encodeHeaderValue(JSON.parse(name ?? '""')) } : {}),
  };
}

/** The one message that is an answer, of a body or of a stream. */
function answerIn(body: string): string {
  if (!body.includes('data: ') || body.startsWith('{')) return body;
  const lines = body.split('\n').flatMap((line) => (line.startsWith('data: ') ? line.slice(6) : []));
  return lines.find((line) => line.startsWith('{') && !membersOf(line).has('method')) ?? body;
}
