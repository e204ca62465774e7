// @module-tag deep

import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { toHttpCodeAgent } from '../support/code-mode.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const startMs = 240_000;
const named = (tools: string[], more: JsonObject = {}): JsonObject => ({
  command: process.execPath,
  args: [fixtureServer('named.mjs'), JSON.stringify(tools)],
  ...more,
});
const servers = {
  docs: named(['execute_code', 'look'], { names: 'plain', expose: 'direct' }),
  hidden: named(['x'], { expose: 'none' }),
  ofCode: named(['y']),
};

describe('the tools of code mode', () => {
  let hub: ServedHub;
  let agent: ReturnType<typeof toHttpCodeAgent>;
  beforeAll(async () => {
    hub = await ServedHub.start({ servers, notebridge: { codeMode: true }, args: ['--notebook', 'none'] });
    agent = toHttpCodeAgent(await openLegacyAgent(hub, () => hub.ownerToken));
  }, startMs);
  afterAll(() => hub[Symbol.asyncDispose]());

  it(
    'keep their names where a server with plain names has some of them, and the config switches them on',
    async () => {
      const names = await agent.names();
      expect(names.sort()).toEqual(['describe_tools', 'docs__execute_code', 'execute_code', 'look', 'search_tools']);
      expect(await agent.execute({ code: '20 + 22' })).toMatchObject({ status: 'ok', result: '42' });
      expect(await agent.callTool('docs__execute_code', {})).toMatchObject({ content: [{ text: 'I am execute_code' }] });
    },
    startMs,
  );

  it('reach what the config exposes to code, and nothing else', async () => {
    expect(await agent.execute({ code: 'from generated.mcp.ofCode import y\nawait y()' })).toMatchObject({ result: "'I am y'" });
    const refused = await agent.execute({ code: 'from generated import client\nawait client.call_tool("hidden__x", {})' });
    expect(refused).toMatchObject({ status: 'error', isError: true });
  });

  it(
    'reach a server that the config is given later, which is not listed',
    async () => {
      hub.writeConfig({ ...servers, later: named(['z']) }, { codeMode: true });
      await vi.waitUntil(
        async () => (await agent.execute({ code: 'from generated.mcp.later import z\nawait z()' })).result === "'I am z'",
        {
          timeout: 20_000,
          interval: 200,
        },
      );
      expect(await agent.names()).not.toContain('later__z');
    },
    startMs,
  );
});
