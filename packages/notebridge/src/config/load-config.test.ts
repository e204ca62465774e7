import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultAudit, defaultLimits, defaultScriptTimeoutMs } from './config.js';
import { loadConfig, userConfigFile } from './load-config.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notebridge-config-'));
  file = join(folder, 'mcp.json');
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const load = async (text: string, env: Record<string, string> = {}) => {
  await writeFile(file, text);
  return loadConfig({ file, env });
};
const faultOf = async (loading: Promise<unknown>): Promise<BridgeError> => {
  const error = await loading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof BridgeError)) throw new Error(`expected a BridgeError, got ${String(error)}`);
  expect(error.code).toBe('bad_config');
  expect(error.message).not.toContain('\n');
  return error;
};
const messageFor = async (text: string): Promise<string> => (await faultOf(load(text))).message.replace(file, 'F');

describe('loadConfig: which file', () => {
  it('returns the defaults when the user has no file', { tags: ['P-019'] }, async () => {
    const config = await loadConfig({ env: { XDG_CONFIG_HOME: folder } });
    expect(config).toMatchObject({ file: undefined, baseDir: join(folder, 'notebridge'), servers: [], middleware: [], skills: [] });
    expect(config).toMatchObject({ journal: true, audit: defaultAudit, limits: defaultLimits });
    expect(await load('{}')).toEqual({ ...config, awaited: undefined, file, baseDir: folder });
  });

  it("reads the user's own file", async () => {
    await mkdir(join(folder, 'notebridge'));
    await writeFile(join(folder, 'notebridge', 'mcp.json'), '{ "notebridge": { "limits": { "graceMs": 0 } } }');
    const config = await loadConfig({ env: { XDG_CONFIG_HOME: folder } });
    expect(config.limits).toEqual({ ...defaultLimits, graceMs: 0 });
    expect(config.file).toBe(join(folder, 'notebridge', 'mcp.json'));
  });

  it('ignores relative and empty folders in the environment: they would mean the working directory', { tags: ['P-020'] }, () => {
    expect(userConfigFile({ XDG_CONFIG_HOME: 'here', HOME: folder })).toBe(join(folder, '.config', 'notebridge', 'mcp.json'));
    expect(userConfigFile({ XDG_CONFIG_HOME: '', HOME: folder })).toBe(join(folder, '.config', 'notebridge', 'mcp.json'));
    expect(userConfigFile({ HOME: '.' })).not.toMatch(/^\./);
  });

  it('fails when the file that was asked for does not exist', async () => {
    const error = await faultOf(loadConfig({ file, env: {} }));
    expect(error.message).toBe(`${file}: The file does not exist. Create it, or name another with "--config".`);
    expect(error.data.file).toBe(file);
  });

  it('fails on a folder, a large file and an empty file', async () => {
    expect((await faultOf(loadConfig({ file: folder, env: {} }))).message).toBe(`${folder}: The file is a folder. Name a file.`);
    expect(await messageFor(' '.repeat(1_048_577))).toContain('F: The file is 1048577 bytes large');
    expect(await messageFor('')).toBe('F:1:1: The file is empty. Write "{}" into it, or delete it.');
  });

  it('reads through the reader that it was given', async () => {
    const config = await loadConfig({ file: '/virtual/mcp.json', env: {}, readFile: async () => ({ kind: 'text', text: '{}' }) });
    expect(config.baseDir).toBe(dirname('/virtual/mcp.json'));
  });
});

describe('loadConfig: what a config gives', () => {
  it('reads both kinds of server, from both lists, with comments and variables', { tags: ['P-021'] }, async () => {
    const config = await load(
      `{
        // as in any host
        "$schema": "https://example.com/schema.json",
        "inputs": [{ "type": "promptString", "id": "key", "default": "\${not:ours}" }],
        "mcpServers": {
          "github": { "command": "npx", "args": ["-y", "server-github"], "env": { "TOKEN": "\${TOKEN}" }, "timeoutMs": 1000, "tools": { "allow": ["get_*"] }, "lazy": true },
        },
        "servers": { "docs": { "type": "http", "url": "\${env:DOCS_URL}/mcp", "headers": { "X-Key": "\${KEY:-none}" }, "disabled": true } },
        "notebridge": { "middleware": ["./a.js", "b.mjs"] },
      }`,
      { TOKEN: 't', DOCS_URL: 'https://docs.example' },
    );
    const common = {
      description: undefined,
      expose: undefined,
      names: 'prefixed',
      instances: 'shared',
      placement: 'each',
      era: 'auto',
      maxInFlight: 256,
      questions: 'auto',
    };
    expect(config.servers).toEqual([
      {
        ...common,
        name: 'github',
        transport: 'stdio',
        command: 'npx',
        args: ['-y', 'server-github'],
        env: { TOKEN: 't' },
        variables: { TOKEN: 't' },
        cwd: undefined,
        disabled: false,
        timeoutMs: 1000,
        lazy: true,
        tools: { allow: ['get_*'], deny: [] },
      },
      {
        ...common,
        name: 'docs',
        transport: 'http',
        url: 'https://docs.example/mcp',
        headers: { 'X-Key': 'none' },
        variables: { DOCS_URL: 'https://docs.example', KEY: 'none' },
        disabled: true,
        timeoutMs: undefined,
        lazy: false,
        tools: { allow: undefined, deny: [] },
      },
    ]);
    expect(config.middleware).toEqual(['./a.js', 'b.mjs']);
    expect(config.baseDir).toBe(folder);
    expect(config.limits).toEqual(defaultLimits);
  });

  it('reads "any" of a placement as "each", and says so once', async () => {
    const config = await load(
      '{ "mcpServers": { "a": { "command": "x", "placement": "any" }, "b": { "command": "x", "placement": "one" } }, "servers": { "c": { "command": "x", "placement": "any" } } }',
    );
    expect(config.servers.map(({ placement }) => placement)).toEqual(['each', 'one', 'each']);
    expect(config.warnings).toEqual([
      expect.stringMatching(/^"placement": "any", of "a", "c", is read as "each": .* Write "each", or "one"/),
    ]);
  });

  it('starts the relative working folder of a server from the folder of the file', async () => {
    const { servers } = await load('{ "mcpServers": { "a": { "command": "x", "cwd": "work" }, "b": { "command": "x", "cwd": "/srv" } } }');
    expect(servers).toMatchObject([{ cwd: join(folder, 'work') }, { cwd: '/srv' }]);
  });

  it('reads skills, trusted or not, from the folder of the file', async () => {
    const config = await load(
      `{ "notebridge": { "skills": [
        "./skills", "\${HOME}/mine", { "path": "/srv/skills", "trusted": true, "timeoutMs": 5, "env": { "KEY": "\${KEY}" } }
      ] } }`,
      { HOME: '/home/user', KEY: 'k' },
    );
    const rest = { trusted: false, timeoutMs: defaultScriptTimeoutMs, env: {} };
    expect(config.skills).toEqual([
      { ...rest, path: join(folder, 'skills') },
      { ...rest, path: '/home/user/mine' },
      { path: '/srv/skills', trusted: true, timeoutMs: 5, env: { KEY: 'k' } },
    ]);
  });

  it('reads what is recorded of calls, or that nothing is', async () => {
    const config = await load('{ "notebridge": { "audit": { "file": "audit.jsonl", "logArguments": true } } }');
    expect(config.audit).toEqual({ file: join(folder, 'audit.jsonl'), logArguments: true, maxBytes: defaultAudit.maxBytes });
    expect((await load('{ "notebridge": { "audit": false } }')).audit).toBe(false);
    expect((await load('{ "notebridge": { "audit": {} } }')).audit).toEqual(defaultAudit);
  });

  it.each(['a__b', 'brave-search', 'ünïcødé 🗝', 'a.b', 'x'.repeat(64), 'Skills', 'constructor', 'class'])(
    'takes %j as the name of a server',
    async (name) => {
      const config = await load(JSON.stringify({ mcpServers: { [name]: { command: 'x' } } }));
      expect(config.servers.map((server) => server.name)).toEqual([name]);
    },
  );

  it('takes an empty object for the defaults', { tags: ['P-019'] }, async () => {
    expect(await load('{}')).toMatchObject({ file, servers: [], middleware: [], limits: defaultLimits });
  });
});

describe('loadConfig: faults', () => {
  it.each([
    ['[]', 'F:1:1: The file is a list, but must be an object, "{…}". Fix this value, then start again.'],
    ['{ "mcpServer": {} }', 'F:1:3: "mcpServer" is not a known key. Did you mean "mcpServers"?'],
    ['{ "zzz": 1 }', 'F:1:3: "zzz" is not a known key. Known here: $schema, inputs, mcpServers, servers, notebridge.'],
    [
      '{ "notebridge": { "codeMode": { "tools": "agent-codemode" } } }',
      'F:1:33: "notebridge.codeMode.tools" is no longer a key. The tools of agent-codemode are no longer offered',
    ],
    ['{ "notebridge": { "codeMode": { "allowDirectCalls": true } } }', 'Delete this key; a server with "expose": "direct" is called'],
    ['{ "notebridge": { "limit": {} } }', 'F:1:19: "notebridge.limit" is not a known key. Did you mean "limits"?'],
    ['{ "notebridge": { "cluster": { "urls": [] } } }', 'F:1:32: "notebridge.cluster.urls" is not a known key. Did you mean "url"?'],
    ['{ "notebridge": { "cluster": {} } }', 'F:1:31: "notebridge.cluster.url" is missing: it must be an address like "nats://host:4222"'],
    ['{ "notebridge": { "limits": { "gracems": 1 } } }', 'F:1:31: "notebridge.limits.gracems" is not a known key. Did you mean "graceMs"?'],
    [
      '{ "notebridge": { "limits": {\n "graceMs": "soon" } } }',
      'F:2:13: "notebridge.limits.graceMs" is "soon", but must be a whole number of milliseconds, 0 to 2147483647. Fix this value, then start again.',
    ],
    [
      '{ "notebridge": { "limits": { "graceMs": -1 } } }',
      'F:1:42: "notebridge.limits.graceMs" is "-1" (a number), but must be a whole number',
    ],
    ['{ "notebridge": { "limits": { "pingMs": 1.5 } } }', '"notebridge.limits.pingMs" is "1.5" (a number), but must be a whole number'],
    ['{ "notebridge": { "limits": { "maxInFlight": 0 } } }', 'is "0" (a number), but must be a whole number of calls, 1 to 1000000'],
    ['{ "notebridge": { "middleware": "a.js" } }', '"notebridge.middleware" is "a.js", but must be a list of module paths.'],
    ['{ "notebridge": { "middleware": [""] } }', '"notebridge.middleware[0]" is "", but must be a text in double quotes, not empty.'],
    ['{ "mcpServers": { "my server": {} } }', 'F:1:32: "mcpServers["my server"]" has neither "command" nor "url". Give it'],
    ['{ "mcpServers": { "": { "command": "x" } } }', '"mcpServers[""]" is a server without a name.'],
    ['{ "mcpServers": { "a": null } }', '"mcpServers.a" is "null", but must be an object with "command" or "url".'],
    ['{ "mcpServers": { "a": { "command": "x", "url": "https://x" } } }', 'F:1:42: "mcpServers.a.url" stands beside "command".'],
    ['{ "mcpServers": { "a": { "command": "x", "type": "http" } } }', '"mcpServers.a.type" does not go with "command". Write "stdio"'],
    [
      '{ "mcpServers": { "a": { "url": "https://x", "type": "stdio" } } }',
      '"mcpServers.a.type" does not go with "url". Write "http" or "sse"',
    ],
    ['{ "mcpServers": { "a": { "url": "https://x", "args": [] } } }', '"mcpServers.a.args" has no meaning without "command".'],
    ['{ "mcpServers": { "a": { "command": "x", "headers": {} } } }', '"mcpServers.a.headers" has no meaning without "url".'],
    [
      '{ "mcpServers": { "a": { "command": "x", "era": "Legacy" } } }',
      'is "Legacy", but must be one of "auto", "legacy", "modern". Did you mean "legacy"?',
    ],
    [
      '{ "mcpServers": { "a": { "command": "x", "tools": { "alow": [] } } } }',
      '"mcpServers.a.tools.alow" is not a known key. Did you mean "allow"?',
    ],
    ['{ "mcpServers": { "a": { "command": "x" } }, "servers": { "a": { "command": "x" } } }', '"servers.a" is also in "mcpServers".'],
    [
      '{ "mcpServers": { "a": { "command": "npx", "args": ["-y", "notebridge"] } } }',
      'F:1:37: "mcpServers.a.command" would start Notebridge from within Notebridge. Delete this server.',
    ],
    [
      '{ "mcpServers": { "a": { "command": "${PROGRAM}" } } }',
      'F:1:37: "mcpServers.a.command" needs the environment variable "PROGRAM", which is not set. Set it, or write "${PROGRAM:-default}".',
    ],
    [
      '{ "mcpServers": { "a": { "command": "x" },\n "skills": { "command": "x" } } }',
      'F:2:2: "mcpServers.skills" is a name that Notebridge itself uses. Give',
    ],
    [
      '{ "mcpServers": { "a": { "command": "x", "names": "none" } } }',
      '"mcpServers.a.names" is "none", but must be one of "prefixed", "plain".',
    ],
    [
      '{ "mcpServers": { "a": { "command": "x", "names": "plain" } },\n "servers": { "b": { "url": "https://x", "names": "plain" } } }',
      'F:2:51: "servers.b.names" is "plain", as it is for "a" already. Only one server can have names without a prefix: write "prefixed"',
    ],
    ['{ "servers": { "notebook": { "url": "https://x" } } }', '"servers.notebook" is a name that Notebridge itself uses.'],
    ['{ "mcpServers": { "a/b": { "command": "x" } } }', 'F:1:19: "mcpServers["a/b"]" has "/" in its name, which cannot stand in a URL.'],
    ['{ "mcpServers": { "..": { "command": "x" } } }', '"mcpServers[".."]" would change the path of a URL.'],
    ['{ "mcpServers": { "a\\nb": { "command": "x" } } }', '"mcpServers["a\\nb"]" has a control character in its name'],
    ['{ "mcpServers": { "a\\ud800": { "command": "x" } } }', 'has a control character in its name'],
    [
      `{ "mcpServers": { "${'x'.repeat(65)}": { "command": "x" } } }`,
      'has 65 characters; at most 64 are allowed. Give the server a shorter name.',
    ],
    ['{ "notebridge": { "skills": "x" } }', '"notebridge.skills" is "x", but must be a list of folders.'],
    ['{ "notebridge": { "skills": [""] } }', '"notebridge.skills[0]" is "", but must be the path of a folder, in double quotes'],
    [
      '{ "notebridge": { "skills": ["~/skills"] } }',
      'F:1:30: "notebridge.skills[0]" is "~/skills", but must be the path of a folder, in double quotes; for your home folder write "${HOME}".',
    ],
    [
      '{ "notebridge": { "skills": [1] } }',
      '"notebridge.skills[0]" is "1" (a number), but must be the path of a folder, or an object with "path".',
    ],
    [
      '{ "notebridge": { "skills": [{ "path": "x", "trust": true }] } }',
      'F:1:45: "notebridge.skills[0].trust" is not a known key. Did you mean "trusted"?',
    ],
    [
      '{ "notebridge": { "skills": [{ "path": "x", "trusted": "yes" }] } }',
      '"notebridge.skills[0].trusted" is "yes", but must be true or false.',
    ],
    ['{ "notebridge": { "audit": true } }', '"notebridge.audit" is "true", but must be false, or an object.'],
    ['{ "notebridge": { "audit": { "files": "x" } } }', '"notebridge.audit.files" is not a known key. Did you mean "file"?'],
    [
      '{ "notebridge": { "audit": { "maxBytes": 1 } } }',
      '"notebridge.audit.maxBytes" is "1" (a number), but must be a whole number of bytes',
    ],
    [
      '{ "notebridge": { "limits": { "maxBodyBytes": "1MB" } } }',
      '"notebridge.limits.maxBodyBytes" is "1MB", but must be a whole number of bytes',
    ],
    ['{ "notebridge": 1, }', '"notebridge" is "1" (a number), but must be an object.'],
    ['{ "a": 1 "b" }', 'F:1:10: The file is not JSON: a text stands there. Put a comma before it.'],
  ])('says what is wrong with %s', { tags: ['P-023', 'P-354'] }, async (text, expected) => {
    expect(await messageFor(text)).toContain(expected);
  });

  it('lets a second server have plain names that agents do not see', { tags: ['P-354'] }, async () => {
    const entry = (more: object): object => ({ command: 'x', names: 'plain', ...more });
    const mcpServers = { a: entry({}), b: entry({ disabled: true }), c: entry({ expose: 'code' }) };
    expect((await load(JSON.stringify({ mcpServers }))).servers).toHaveLength(3);
  });

  it('lets a disabled server name Notebridge', async () => {
    expect((await load('{ "mcpServers": { "a": { "command": "notebridge", "disabled": true } } }')).servers).toHaveLength(1);
  });

  it('puts the first fault in the message and all in the data', async () => {
    const error = await faultOf(load('{\n "servers": { "a": { "command": 1 } },\n "mcpServers": { "b": {} },\n "extra": "${NONE}"\n}'));
    expect(error.message).toContain(':2:33: "servers.a.command" is "1" (a number)');
    expect(error.message).toMatch(/ \(and 3 more, in lines 3, 4\)$/);
    expect(error.data.faults).toMatchObject([
      { line: 2, column: 33, key: 'servers.a.command' },
      { line: 3, column: 23, key: 'mcpServers.b' },
      { line: 4, column: 2, key: 'extra' },
      { line: 4, column: 11, key: 'extra' },
    ]);
  });

  it.each(['me:1#hunter2@host:4222', 'me:hunter2?1@host', 'me:50%hunter2@host', 'me:hun/hunter2@host'])(
    'takes no address of NATS whose password would be read as something else, and does not show it: %s',
    async (place) => {
      for (const url of [place, `nats://${place}`]) {
        const said = await messageFor(JSON.stringify({ notebridge: { cluster: { url } } }));
        expect(said).toContain('"notebridge.cluster.url" is a text, but must be an address of NATS');
        expect(said).not.toContain('hunter2');
      }
      const url = 'nats://me:1%23%25hunter2@[::1]:4222';
      await expect(load(JSON.stringify({ notebridge: { cluster: { url } } }))).resolves.toMatchObject({ cluster: { urls: [url] } });
    },
  );

  it('no fault shows what may be a secret', { tags: ['P-022'] }, async () => {
    const text = `{ "mcpServers": {
      "a": { "command": "x", "env": { "KEY": 123456 }, "args": [987654], "era": "\${SECRET}" },
      "b": { "url": "hxxps://user:hunter2@host?token=hunter2" },
      "c": { "url": "https://x", "headers": { "Authorization": ["hunter2"] } }
    } }`;
    const error = await faultOf(load(text, { SECRET: 'hunter2' }));
    const said = error.message + JSON.stringify(error.data);
    expect(error.data.faults).toHaveLength(5);
    for (const secret of ['hunter2', '123456', '987654']) expect(said).not.toContain(secret);
    expect(await messageFor('{ "mcpServers": { "a": { "env": { "KEY": hunter2 } } } }')).not.toContain('hunter2');
  });
});
