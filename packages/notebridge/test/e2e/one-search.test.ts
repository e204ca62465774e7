// @module-tag deep
// @module-tag P-731

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bareEnvironment } from '../support/bare-environment.js';
import { toHttpCodeAgent } from '../support/code-mode.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { bindingsPython } from '../support/python-package.js';
import { installedServer, ServedHub } from '../support/served-hub.js';

const run = promisify(execFile);
/** Other forms, other words, slips, a name as code has it, and nothing that is there. */
const queries = ['read files', 'remove', 'sum of two numbers', 'picture', 'direktory', 'read_text_file', 'mkdir', 'zzzqq', '!?'];
const printFound = `import generated, json
print(json.dumps([[[hit.server, hit.name] for hit in generated.search(query)] for query in ${JSON.stringify(queries)}]))`;

describe('search in Python', () => {
  let hub: ServedHub;
  let folder: string;
  beforeAll(async () => {
    const servers = { everything: installedServer('everything'), fs: installedServer('filesystem', ['${HOME}']) };
    hub = await ServedHub.start({ servers, args: ['--notebook', 'none', '--code-mode'] });
    folder = mkdtempSync(join(tmpdir(), 'notebridge-search-'));
    const archive = await hub.request('/api/v1/mcp/proxy/bindings/python.tar.gz', { token: hub.ownerToken });
    writeFileSync(join(folder, 'it.tar.gz'), Buffer.from(await archive.arrayBuffer()));
    await run('tar', ['-xzf', 'it.tar.gz'], { cwd: folder });
  }, 120_000);
  afterAll(async () => {
    await hub[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What an agent with this token finds of the servers' tools, as Python has the names. The functions of skills stand elsewhere in Python. */
  async function foundByAgent(token: string): Promise<string[][][]> {
    const send = await openLegacyAgent(hub, () => token);
    const all: string[][][] = [];
    for (const query of queries) {
      const { result } = await send('tools/call', { name: 'search_tools', arguments: { query, limit: 50 } });
      const { results } = (result as JsonObject).structuredContent as { results: { server: string; tool: string }[] };
      const ofServers = results.filter(({ server }) => server !== 'skills').slice(0, 10);
      all.push(ofServers.map(({ server, tool }) => [server, tool.replaceAll('-', '_')]));
    }
    return all;
  }

  async function foundByPython(token: string): Promise<string[][][]> {
    const env = { ...bareEnvironment(), NOTEBRIDGE_TOKEN: token };
    const { stdout } = await run(await bindingsPython(), ['-c', printFound], { cwd: folder, env });
    return JSON.parse(stdout) as string[][][];
  }

  it('finds over HTTP what agents find, in the same order', async () => {
    const found = await foundByAgent(hub.ownerToken);
    expect(found.map((each) => each.length > 0)).toEqual(queries.map((query) => !['remove', 'zzzqq', '!?'].includes(query)));
    expect(await foundByPython(hub.ownerToken)).toEqual(found);
  });

  it('finds for a grant what that may call, and costs it no call', async () => {
    const { token } = await hub.grant('--allow', 'fs:read_*', '--calls', '1');
    const found = await foundByPython(token);
    expect(new Set(found.flat().map(([server]) => server))).toEqual(new Set(['fs']));
    expect(found.flat().every(([, tool]) => tool?.startsWith('read_'))).toBe(true);
    expect((await hub.call('fs', 'read_text_file', { path: 'none' }, token)).answer.error_code).not.toBe('budget_exhausted');
  });

  it('finds the same in code of execute_code', { timeout: 120_000 }, async () => {
    const agent = toHttpCodeAgent(await openLegacyAgent(hub, () => hub.ownerToken));
    const { texts } = await agent.execute({ code: printFound });
    expect(JSON.parse(texts.join(''))).toEqual(await foundByAgent(hub.ownerToken));
  });
});
