// @module-tag deep

import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';
import { programFile } from '../support/program.js';
import { installedServer, ServedHub } from '../support/served-hub.js';

/** Third-party clients as they are today, and the last of the generation before, which many still have. */
const clients = [
  { name: 'the SDK, version 2', packages: ['mcp'], environment: 'agents', file: 'mcp_v2' },
  { name: 'FastMCP 4', packages: ['fastmcp'], environment: 'agents', file: 'fastmcp_client' },
  { name: 'the SDK, version 1', packages: ['mcp'], environment: 'older', file: 'mcp_v1' },
  { name: 'FastMCP 2', packages: ['fastmcp'], environment: 'older', file: 'fastmcp_client' },
];
const timeout = 600_000;

describe.each(clients)('$name for Python', ({ packages, environment, file }) => {
  let python: string;
  let hub: ServedHub;

  beforeAll(async () => {
    python = await pythonWith(packages, { environment });
    hub = await ServedHub.start({ servers: { everything: installedServer('everything') } });
  }, timeout);
  afterAll(() => hub[Symbol.asyncDispose]());

  const tell = async (target: JsonObject): Promise<JsonObject> => {
    const program = fileURLToPath(new URL(`../fixtures/clients/${file}.py`, import.meta.url));
    return JSON.parse(await runPython(python, [program, JSON.stringify(target)])) as JsonObject;
  };

  // Each has a process and a server of its own, and waits for an operation of seconds.
  it.concurrent.each(['HTTP', 'stdio'])(
    'lists, calls, hears progress, cancels and is asked as without a bridge, with no setting, over %s',
    { timeout, tags: ['P-357'] },
    async (door) => {
      const prefix = 'everything__';
      const through =
        door === 'HTTP'
          ? { url: `${hub.url}/mcp`, token: hub.ownerToken, prefix }
          : {
              command: 'env',
              args: ['-i', ...variables(hub.env), process.execPath, programFile, '--standalone', '--config', hub.configFile],
              prefix,
            };
      const [alone, report] = await Promise.all([tell(installedServer('everything')), tell(through)]);
      expect(report).toEqual({ ...alone, asked: (alone.asked as string[]).map((message) => `[everything] ${message}`) });
      expect(report).toMatchObject({
        tools: expect.arrayContaining(['echo', 'get-roots-list', 'trigger-elicitation-request', 'trigger-sampling-request']),
        echo: 'Echo: héllo',
        long: expect.stringContaining('completed'),
        progress: [1, 2, 3, 4],
        cancelled: true,
        form: expect.stringMatching(/Name: Ann\n.*\n.*ann@example\.org\n.*7/),
        sample: expect.stringContaining('"text": "hi"'),
        roots: expect.stringContaining('file:///ada'),
        asked: [expect.stringContaining('Please provide inputs')],
      });
    },
  );
});

function variables(env: Record<string, string>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}
