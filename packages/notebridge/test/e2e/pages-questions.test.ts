// @module-tag deep
// @module-tag P-343

import { everyAskable } from '@notebridge/protocol/core/questions';
import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { colabProfile } from '../../src/notebooks/profiles/colab.js';
import { envelope } from '../support/agents.js';
import { Bridge, LibraryAgent } from '../support/bridge.js';
import { RawPage } from '../support/raw-page.js';

const profile = { ...colabProfile, questions: 'serial' as const };
const form = { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } };
const text = (value: unknown): JsonObject => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

/** A page that asks once in each call, and answers with what it was answered. `asks`: what, by the tool. */
function askingPage(address: { port: number; token: string }, asks: Record<string, JsonObject>): Promise<RawPage> {
  return RawPage.serve({
    ...address,
    answer: async ({ method, params, id }, page) => {
      const question = asks[String((params as JsonObject | undefined)?.name)];
      if (method !== 'tools/call' || question === undefined) return undefined;
      const asked = `q${id}`;
      page.send({ jsonrpc: '2.0', id: asked, ...question });
      await page.until((messages) => messages.some((message) => message.id === asked && message.method === undefined));
      const { result, error } = page.messages.find((message) => message.id === asked && message.method === undefined) ?? {};
      return { result: text(result ?? error) };
    },
  });
}

const callsAt = (page: RawPage): unknown[] =>
  page.messages.filter(({ method }) => method === 'tools/call').map(({ params }) => (params as JsonObject).name);

describe('a page that asks in the middle of a call', () => {
  it('is refused, and promised nothing, unless its profile lets it', async () => {
    await using bridge = await Bridge.open({}, { elicitation: {} });
    await using page = await askingPage(bridge.address, { get_cells: form });
    expect(await page.message('initialize')).toMatchObject({ params: { capabilities: {} } });
    const { content } = await bridge.agent.callTool('get_cells');
    expect(content).toMatchObject([{ text: expect.stringContaining('-32601') }]);
  });

  it('asks the agent of the one call that runs; the next one waits', async () => {
    await using bridge = await Bridge.open({ profile }, { elicitation: {} });
    await using page = await askingPage(bridge.address, { get_cells: form, delete_cell: { method: 'roots/list' } });
    expect(await page.message('initialize')).toMatchObject({ params: { capabilities: everyAskable } });
    const first = bridge.agent.callTool('get_cells');
    const second = bridge.agent.callTool('delete_cell', { cellId: 'c' });
    await bridge.agent.until(() => bridge.agent.named(form.method).length > 0);
    expect(callsAt(page)).toEqual(['get_cells']);
    const [question] = bridge.agent.named(form.method);
    expect(question).toMatchObject({ params: { message: '[Google Colab] Sure?' } });
    bridge.agent.reply(question, { action: 'accept', content: { sure: true } });
    expect(await first).toEqual(text({ action: 'accept', content: { sure: true } }));
    // This agent has no roots.
    expect((await second).content).toMatchObject([{ text: expect.stringContaining('did not declare') }]);
    expect(callsAt(page)).toEqual(['get_cells', 'delete_cell']);
  });

  it('asks an agent of 2026-07-28 by input_required', async () => {
    await using bridge = await Bridge.open({ profile });
    await using _page = await askingPage(bridge.address, { get_cells: form });
    const agent = new LibraryAgent(bridge.host);
    const _meta = { ...envelope, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const params = { name: 'get_cells', arguments: {}, _meta };
    const { result } = (await agent.request('tools/call', params)) as { result: JsonObject };
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { 'question-1': { method: form.method } } });
    const { requestState } = result;
    const inputResponses = { 'question-1': { action: 'decline' } };
    const answer = await agent.request('tools/call', { ...params, requestState, inputResponses });
    expect(answer.result).toMatchObject({ resultType: 'complete', ...text({ action: 'decline' }) });
  });

  it('keeps the next call waiting until it has answered one that was cancelled, and asks nobody meanwhile', async () => {
    await using bridge = await Bridge.open({ profile }, { elicitation: {} });
    await using page = await RawPage.serve(bridge.address);
    void bridge.agent.request('tools/call', { name: 'get_cells', arguments: {} }, 70);
    const call = await page.message('tools/call');
    bridge.agent.notify('notifications/cancelled', { requestId: 70 });
    await page.message('notifications/cancelled');
    const next = bridge.agent.callTool('move_cell', { cellId: 'c', cellIndex: 0 });
    page.send({ jsonrpc: '2.0', id: 'late', ...form });
    await page.until((messages) => messages.some(({ id }) => id === 'late'));
    expect(page.messages.find(({ id }) => id === 'late')).toMatchObject({ result: { action: 'cancel' } });
    expect(bridge.agent.named(form.method)).toEqual([]);
    expect(callsAt(page)).toEqual(['get_cells']);
    page.send({ jsonrpc: '2.0', id: call.id, result: text('late') });
    const { id } = await page.message('tools/call', 1);
    page.send({ jsonrpc: '2.0', id, result: text('moved') });
    expect(await next).toEqual(text('moved'));
  });
});
