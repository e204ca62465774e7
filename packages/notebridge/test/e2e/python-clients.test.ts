import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/kit/json';
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
    // It speaks the legacy era on stdio, where only the order ties a question to a call.
    hub = await ServedHub.start({ servers: { everything: installedServer('everything', [], { questions: 'serial' }) } });
  }, timeout);
  afterAll(() => hub[Symbol.asyncDispose]());

  // Each has a process and a server of its own, and waits for an operation of seconds.
  it.concurrent.each(['HTTP', 'stdio'])('lists, calls, hears progress, cancels and is asked, over %s', { timeout }, async (door) => {
    const target =
      door === 'HTTP'
        ? { url: `${hub.url}/mcp`, token: hub.ownerToken }
        : {
            command: 'env',
            args: ['-i', ...variables(hub.env), process.execPath, programFile, '--standalone', '--config', hub.configFile],
          };
    const printed = await runPython(python, [
      fileURLToPath(new URL(`../fixtures/clients/${file}.py`, import.meta.url)),
      JSON.stringify(target),
    ]);
    const report = JSON.parse(printed) as JsonObject;
    expect(report).toMatchObject({
      tools: expect.arrayContaining(['everything__echo', 'everything__trigger-elicitation-request']),
      echo: 'Echo: héllo',
      long: expect.stringContaining('completed'),
      progress: [1, 2, 3, 4],
      cancelled: true,
      form: expect.stringMatching(/Name: Ann\n.*\n.*ann@example\.org\n.*7/),
      asked: ['[everything] Please provide inputs for the following fields:'],
    });
  });
});

function variables(env: Record<string, string>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}
