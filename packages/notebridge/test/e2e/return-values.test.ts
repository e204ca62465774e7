// @module-tag deep
// @module-tag P-071

import { parseJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '../support/raw-http.js';
import { returnValues } from '../support/return-values.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

const proxy = '/api/v1/mcp/proxy';
const server = { command: process.execPath, args: [fixtureServer('values.mjs')] };

describe('what a server on stdio returns, to code that calls over HTTP', () => {
  let hub: ServedHub;
  beforeAll(async () => {
    hub = await ServedHub.start({ servers: { values: server }, args: ['--notebook', 'none'] });
  });
  afterAll(() => hub[Symbol.asyncDispose]());

  const textOf = async (tool: string, args: JsonObject, accept = 'application/json'): Promise<string> => {
    const body = { arguments: args };
    const response = await hub.request(`${proxy}/values/tools/${tool}`, { token: hub.ownerToken, body, headers: { accept } });
    expect(response.status).toBe(200);
    return response.text();
  };
  const answerTo = async (tool: string, args: JsonObject): Promise<JsonObject> => parseJson(await textOf(tool, args)) as JsonObject;

  it.each(returnValues)('a value is returned as it was given: $name', async ({ given, result, content }) => {
    const answer = await answerTo('give', { result: given });
    expect(answer).toMatchObject({ success: true, error: null, is_error: false, meta: null, error_code: null });
    expect(answer.result).toEqual(parseJson(result));
    // Equal also where `toEqual` looks away: `-0`, own `__proto__`.
    expect(await textOf('give', { result: given })).toContain(`"result":${withoutEscapes(result)}`);
    if (content === null) expect(answer).not.toHaveProperty('content');
    else if (content !== undefined) expect(answer.content).toEqual(parseJson(content));
  });

  it('are more than forty', () => expect(returnValues.length).toBeGreaterThanOrEqual(40));

  it('metadata, and a tool that failed with an image, lose nothing', async () => {
    const image = { type: 'image', data: 'AAEC', mimeType: 'image/png' };
    const given = {
      isError: true,
      content: [{ type: 'text', text: 'broken' }, image],
      structuredContent: { code: 7 },
      _meta: { 'x/y': 1 },
    };
    expect(await answerTo('give', { result: JSON.stringify(given) })).toMatchObject({
      success: false,
      is_error: true,
      error: 'broken',
      result: 'broken',
      content: given.content,
      structured_content: { code: 7 },
      meta: { 'x/y': 1 },
    });
  });

  it.each(['text', 'structured'])('20 MB come whole (%s), also at the end of a stream', { tags: ['P-140'] }, async (form) => {
    const characters = 10 * 1024 * 1024;
    const { result } = (await answerTo('big', { characters, form })) as { result: string | { value: string } };
    const value = typeof result === 'string' ? result : result.value;
    expect(value.length).toBe(characters);
    expect(value === 'é'.repeat(characters)).toBe(true);
    const streamed = JSON.parse((await textOf('big', { characters, form }, 'application/x-ndjson')).trimEnd()) as JsonObject;
    expect(streamed.event).toBe('result');
    expect(JSON.stringify(streamed.result) === JSON.stringify(result)).toBe(true);
  });

  it('a server that breaks its output schema is passed on as it is', async () => {
    expect(await answerTo('breaks_promise', {})).toMatchObject({ success: true, result: { m: 'not a number' } });
    expect(await answerTo('keeps_nothing', {})).toMatchObject({ success: true, result: 'nothing structured' });
  });

  it('the first of two tools with one name is listed, the other is reported, and calls are made once', async () => {
    expect(await answerTo('twin', {})).toMatchObject({ success: true, result: 'one of two' });
    const response = await hub.request(`${proxy}/servers`, { token: hub.ownerToken });
    const { servers } = (await response.json()) as { servers: { tools: JsonObject[] }[] };
    const twins = servers[0]?.tools.filter(({ name }) => name === 'twin');
    expect(twins).toMatchObject([{ description: 'first' }]);
    await hub.logged('tool \\"twin\\", since there is another one of that name');
  });

  it.each([
    'x'.repeat(500),
    '..',
    '.',
    'a/b',
    'größe',
    '日本語',
    'a__b',
    '__proto__',
    'constructor',
    'a b',
    'a?b#c',
    '%2f',
    '../../etc/passwd',
  ])('a tool named %j is called by its name, encoded once', { tags: ['P-158'] }, async (name) => {
    // By hand: `fetch` would resolve the dots.
    const { body } = await rawRequest(hub.port, {
      method: 'POST',
      target: `${proxy}/values/tools/${encodeURIComponent(name)}`,
      headers: { authorization: `Bearer ${hub.ownerToken}`, 'content-type': 'application/json' },
      body: '{"arguments":{}}',
    });
    expect(JSON.parse(body)).toMatchObject({ success: true, result: `I am ${name}` });
  });

  it('arguments named like what JavaScript knows reach the server, and harm nothing', { tags: ['P-158'] }, async () => {
    const path = `${proxy}/values/tools/seen`;
    const body = '{"arguments":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"toString":null}}';
    const headers = { authorization: `Bearer ${hub.ownerToken}`, 'content-type': 'application/json' };
    const response = await fetch(new URL(path, hub.url), { method: 'POST', headers, body });
    const { result } = (await response.json()) as { result: string };
    expect(result).toBe(`seen ${body.slice('{"arguments":'.length, -1)} true`);
    expect(await answerTo('give', { result: '{"content":[]}' })).toMatchObject({ success: true });
  });
});

/** As the printer of JSON writes it: other characters than those it must escape stand for themselves. */
function withoutEscapes(json: string): string {
  return json.replaceAll('\\u2028', '\u2028');
}
