import { isJsonObject } from '@notebridge/protocol/json';
import type { KeyPath, Problem } from './fault.js';
import { startsNotebridge } from './starts-notebridge.js';

/**
 * What a schema cannot say of `mcpServers` and `servers`: which keys go together, names given twice, and that we must not start
 * ourselves. Looks at the file as it is, so that these faults are reported together with those of the schema.
 */
export function parseServers(config: unknown): Problem[] {
  if (!isJsonObject(config)) return [];
  const lists = [config.mcpServers, config.servers].map((list) => (isJsonObject(list) ? list : {}));
  const [standard = {}, vscode = {}] = lists;
  return [
    ...Object.entries(standard).flatMap(([name, server]) => checkServer(['mcpServers', name], server)),
    ...Object.entries(vscode).flatMap(([name, server]) => checkServer(['servers', name], server)),
    ...Object.keys(vscode)
      .filter((name) => Object.hasOwn(standard, name))
      .map(givenTwice),
    ...plainTwice([
      ...Object.entries(standard).map(([name, server]) => [['mcpServers', name], server] as const),
      ...Object.entries(vscode).map(([name, server]) => [['servers', name], server] as const),
    ]),
  ];
}

/** Names without a prefix do not say whose they are: they can be those of one server. */
function plainTwice(servers: readonly (readonly [KeyPath, unknown])[]): Problem[] {
  const isPlain = (server: unknown): boolean =>
    isJsonObject(server) && server.names === 'plain' && server.disabled !== true && (server.expose ?? 'direct') === 'direct';
  const [first, ...more] = servers.filter(([, server]) => isPlain(server));
  const found = `is "plain", as it is for "${first?.[0].at(-1)}" already`;
  const next = 'Only one server can have names without a prefix: write "prefixed" for the others, or leave it out.';
  return more.map(([path]) => ({ path: [...path, 'names'], at: 'value', found, next }));
}

function checkServer(path: KeyPath, server: unknown): Problem[] {
  if (!isJsonObject(server)) return [];
  const found =
    nameProblem(path) ??
    transportProblem(path, server) ??
    strayKeyProblem(path, server) ??
    authProblem(path, server) ??
    approveProblem(path, server) ??
    selfProblem(path, server);
  return found === undefined ? [] : [found];
}

/** Names are a part of URLs and of the names of tools; the parts that are built in have taken some. */
function nameProblem(path: KeyPath): Problem | undefined {
  const name = String(path.at(-1));
  const ofKey = (found: string, next: string): Problem => problem(path, 'key', found, next);
  if (name.trim() === '') return ofKey('is a server without a name', 'Give it a name.');
  if (reservedNames.includes(name)) return ofKey('is a name that Notebridge itself uses', 'Give the server another name.');
  if (name.length > longestName) {
    return ofKey(`has ${name.length} characters; at most ${longestName} are allowed`, 'Give the server a shorter name.');
  }
  if (name === '.' || name === '..') return ofKey('would change the path of a URL', 'Give the server another name.');
  const odd = /[/\\\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.exec(name)?.[0];
  if (odd === undefined) return undefined;
  const what = /[/\\]/.test(odd) ? `"${odd}"` : 'a control character';
  return ofKey(
    `has ${what} in its name, which cannot stand in a URL`,
    'Give the server another name: letters, digits, "-", "_" and "." are fine.',
  );
}

const reservedNames = ['skills', 'notebook', 'code-mode'];
const longestName = 64;

function transportProblem(path: KeyPath, { type, command, url }: Record<string, unknown>): Problem | undefined {
  if (command === undefined && url === undefined)
    return problem(path, 'value', 'has neither "command" nor "url"', 'Give it a "command" to start, or the "url" of a running server.');
  if (command !== undefined && url !== undefined) {
    const next = 'Keep one of the two: a server is started or called, not both.';
    return problem([...path, 'url'], 'key', 'stands beside "command"', next);
  }
  const local = command !== undefined;
  if (type === undefined || (type === 'stdio') === local) return undefined;
  const next = local ? 'Write "stdio", or leave "type" out.' : 'Write "http" or "sse", or leave "type" out.';
  return problem([...path, 'type'], 'value', `does not go with "${local ? 'command' : 'url'}"`, next);
}

function strayKeyProblem(path: KeyPath, server: Record<string, unknown>): Problem | undefined {
  const [stray, owner] = server.command === undefined ? [['args', 'env', 'cwd'], 'command'] : [['headers', 'auth', 'ca', 'proxy'], 'url'];
  const key = stray.find((candidate) => Object.hasOwn(server, candidate));
  if (key === undefined) return undefined;
  return problem([...path, key], 'key', `has no meaning without "${owner}"`, `Delete it, or give the server a "${owner}".`);
}

/** Two answers to the question who we are: the server would see one, and a person expect the other. */
function authProblem(path: KeyPath, { auth, headers }: Record<string, unknown>): Problem | undefined {
  if (!isJsonObject(auth)) return undefined;
  const at = [...path, 'auth'];
  if (isJsonObject(headers) && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    return problem(at, 'key', 'stands beside a header "Authorization"', 'Keep one of the two.');
  const { grant, clientId, clientSecret, privateKey } = auth;
  if (clientId === undefined && (clientSecret !== undefined || privateKey !== undefined || grant === 'client_credentials'))
    return problem(at, 'value', 'has no "clientId"', 'Add the "clientId" under which the authorization server knows it.');
  if (clientSecret !== undefined && privateKey !== undefined)
    return problem([...at, 'privateKey'], 'key', 'stands beside "clientSecret"', 'Keep one of the two.');
  if (grant === 'client_credentials' && clientSecret === undefined && privateKey === undefined)
    return problem(at, 'value', 'has neither "clientSecret" nor "privateKey"', 'Add one of the two: nobody is asked for a password.');
  return undefined;
}

/** Whoever names tools to be asked about and is not asked would find out too late. */
function approveProblem(path: KeyPath, { approve, tools }: Record<string, unknown>): Problem | undefined {
  const named = isJsonObject(tools) ? tools.approve : undefined;
  if (approve === 'none' && named !== undefined)
    return problem([...path, 'approve'], 'value', 'is "none", and "tools.approve" names tools', 'Leave one of the two out.');
  if (approve !== 'listed' || named !== undefined) return undefined;
  return problem([...path, 'approve'], 'value', 'is "listed", and nothing is', 'Name tools in "tools": { "approve": ["delete_*"] }.');
}

function problem(path: KeyPath, at: Problem['at'], found: string, next: string): Problem {
  return { path, at, found, next };
}

function selfProblem(path: KeyPath, { command, args, disabled }: Record<string, unknown>): Problem | undefined {
  if (typeof command !== 'string' || disabled === true) return undefined;
  const words = Array.isArray(args) ? args.filter((word) => typeof word === 'string') : [];
  if (!startsNotebridge(command, words)) return undefined;
  return { path: [...path, 'command'], at: 'value', found: 'would start Notebridge from within Notebridge', next: 'Delete this server.' };
}

function givenTwice(name: string): Problem {
  return { path: ['servers', name], at: 'key', found: 'is also in "mcpServers"', next: 'Keep one of the two, or give one another name.' };
}
