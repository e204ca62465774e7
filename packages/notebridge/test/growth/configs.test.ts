// @module-tag deep

// @runs process
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { Redactor } from '@notebridge/protocol/util/redactor';
import { afterAll, beforeAll, describe } from 'vitest';
import { createNotebridge, type Notebridge } from '../../src/assembly/create-notebridge.js';
import { createTerminalLogger } from '../../src/cli/terminal-logger.js';
import { defaultConfig } from '../../src/config/config.js';
import { parseConfig } from '../../src/config/parse-config.js';
import { toAuditLine, toRefusedLine } from '../../src/grants/audit-line.js';
import { RecentLog } from '../../src/recent/recent-log.js';
import { secretsOfServer } from '../../src/upstreams/server-secrets.js';
import { createContext } from '../support/create-context.js';
import { type GrowingKind, testGrowth, textsIn } from '../support/growth.js';

const serversOf = (part: unknown, server: JsonObject): JsonObject => ({
  mcpServers: Object.fromEntries(textsIn(part).map((_, at) => [`server-${at}`, server])),
});
const serverOf = (more: JsonObject): JsonObject => ({ mcpServers: { a: { command: 'a', ...more } } });
const remoteOf = (more: JsonObject): JsonObject => ({ mcpServers: { a: { url: 'https://example.com/mcp', ...more } } });
const variables = (part: unknown): JsonObject =>
  Object.fromEntries(textsIn(part).map((_, at) => [`V${at}`, `\${HOME} \${SOME_${at}:-x} $\${A}`]));

const configs: Record<string, (part: unknown) => unknown> = {
  'the whole of a config': (part) => part,
  servers: (part) => ({ mcpServers: part, servers: part }),
  'servers that are right': (part) => serversOf(part, { command: 'a', args: ['--key', 'x'], env: { A: '1' } }),
  'servers given twice': (part) => ({
    ...serversOf(part, { command: 'a' }),
    servers: serversOf(part, { url: 'https://a.example' }).mcpServers,
  }),
  'servers that are wrong': (part) => serversOf(part, { command: 1, typo: true, args: [1] }),
  'servers with plain names': (part) => serversOf(part, { command: 'a', names: 'plain' }),
  'keys that are unknown': (part) => ({ notebridge: part, mcpServers: { a: part } }),
  'the name of a server': (part) => ({ mcpServers: { [textsIn(part).join(' ')]: { command: 'a' } } }),
  args: (part) => serverOf({ args: part }),
  'args that are texts': (part) => serverOf({ args: textsIn(part).flatMap((text) => ['--token', text]) }),
  env: (part) => serverOf({ env: part }),
  variables: (part) => serverOf({ env: variables(part), args: Object.values(variables(part)) }),
  'a variable': (part) =>
    serverOf({ args: [`\${${textsIn(part).join('')}`, `\${A:-${textsIn(part).join('')}}`, '${'.repeat(textsIn(part).length)] }),
  headers: (part) => remoteOf({ headers: part }),
  'the address of a server': (part) =>
    remoteOf({ url: `https://a:b@example.com/${textsIn(part).join('/')}?${textsIn(part).join('&key=')}` }),
  tools: (part) => serverOf({ tools: { allow: part, deny: part, approve: part } }),
  skills: (part) => ({ notebridge: { skills: part, middleware: part } }),
};

function takeConfig(text: string): void {
  const { servers } = parseConfig({ file: '/a/mcp.json', text, env: { HOME: '/home/a' } });
  const redactor = new Redactor();
  redactor.replace('config', servers.flatMap(secretsOfServer).slice(0, 100));
  redactor.redact('a line of the log');
}

describe('a config that grows', () => {
  testGrowth(
    Object.entries(configs).map(([name, make]): GrowingKind => [name, make, takeConfig]),
    { coreHasOneIn: 48, tags: ['P-648'] },
  );
});

const redactor = new Redactor();
redactor.add('a secret that is known');
const logs = (['json', 'text'] as const).map((format) => createTerminalLogger({ level: 'debug', redactor, format, write: () => {} }));

/** Writes what a call has to the audit, to the calls that are shown, and to both logs. */
function note(text: string): void {
  const said = parseJson(text) as JsonObject;
  const args = isJsonObject(said.args) ? said.args : { said: said.args };
  const context = createContext('tools/call', { name: 'a', arguments: args });
  const address = { server: `${said.name}`, tool: `${said.name}` };
  const times = { durationMs: 1, endedAt: 1 };
  toAuditLine(
    { context, method: `${said.name}`, address, args, result: { content: said.args }, outcome: 'ok', label: `${said.name}`, ...times },
    { redactor, logArguments: true },
  );
  toRefusedLine({ door: 'mcp', reason: `${said.name}`, grantId: `${said.name}`, remote: 'loopback', times: 1, since: 1, endedAt: 1 });
  const recent = new RecentLog();
  for (const log of [...logs, recent.tee(silentLogger)]) {
    log.warn(`Said: ${said.name}`, { server: 'a', ...args });
    log.info(`${said.name}`, { server: 'a', stream: 'stderr' });
  }
}

describe('what is written of calls that grow', () => {
  testGrowth(
    [
      ['arguments', (part) => ({ name: 'a', args: part }), note],
      ['names', (part) => ({ name: textsIn(part).join(' '), args: {} }), note],
      ['a nested argument', (part) => ({ name: 'a', args: { password: part, part: { part } } }), note],
    ],
    { coreHasOneIn: 48, tags: ['P-648'] },
  );
});

let dir = '';
let bridge: Notebridge | undefined;
let token = '';

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'notebridge-growth-'));
  const env = { HOME: dir, XDG_STATE_HOME: dir };
  bridge = await createNotebridge({ config: defaultConfig(dir), env, http: { port: 0 } });
  await bridge.start();
  token = readFileSync(join(dir, 'notebridge', 'owner-token'), 'utf8').trim();
});

afterAll(async () => {
  await bridge?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** All bodies are sent to all routes that take one. */
async function post(text: string): Promise<void> {
  for (const path of ['grants', 'grants/preview', 'grants/a/renew', 'approvals/a']) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${new URL(`/api/v1/hub/${path}`, bridge?.url)}`, { method: 'POST', headers, body: text });
    await response.arrayBuffer();
  }
}

describe('what is sent to the owner’s API and grows', () => {
  testGrowth(
    [
      ['a body', (part) => part, post],
      ['what a grant allows', (part) => ({ allow: part }), post],
      [
        'patterns of a grant',
        (part) => ({
          allow: textsIn(part)
            .slice(0, 200)
            .map((text) => `*${text.slice(0, 400)}*:*`),
        }),
        post,
      ],
      ['the label of a grant', (part) => ({ label: part }), post],
      ['a decision', (part) => ({ decision: part }), post],
      ['a time', (part) => ({ ttl_seconds: part }), post],
    ],
    { coreHasOneIn: 48, tags: ['P-648'] },
  );
});
