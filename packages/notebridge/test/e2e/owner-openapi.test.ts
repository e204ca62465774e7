// @module-tag P-078

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { untilBrokerEnded } from '../support/broker.js';
import { openLegacyAgent } from '../support/http-agent.js';
import { Program } from '../support/program.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';
import { WindowSocket } from '../support/window-socket.js';

const prefix = '/api/v1/hub';
const execute = promisify(execFile);

describe('the description of the owner’s API', () => {
  let hub: ServedHub;
  let document: JsonObject & { paths: Record<string, Record<string, JsonObject>> };
  beforeAll(async () => {
    const shop = { command: process.execPath, args: [fixtureServer('approvals.mjs'), '/dev/null'], approve: 'writes' };
    hub = await ServedHub.start({ servers: { shop }, args: ['--notebook', 'local', '--no-browser'] });
    document = (await (await hub.request(`${prefix}/openapi.json`)).json()) as typeof document;
  });
  afterAll(() => hub?.[Symbol.asyncDispose]());

  it('is OpenAPI 3.1, to a public validator, and needs no token', async () => {
    expect(document.openapi).toBe('3.1.0');
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  });

  it('has each route that there is, with its methods, and no other', async () => {
    const { detail } = (await (await hub.request('/nothing')).json()) as { detail: string };
    const served = (detail.split('There is: ')[1] ?? '').split(/, |\.$/).filter((route) => route.includes(` ${prefix}`));
    const routes = served.flatMap((route) => {
      const [methods = '', path = ''] = route.split(' ');
      return methods.split('|').map((method) => `${method.toLowerCase()} ${path}`);
    });
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(described.sort()).toEqual(routes.filter((route) => !route.endsWith('/openapi.json')).sort());
  });

  it('says which routes a grant that watches opens', { tags: ['P-492'] }, async () => {
    const { token } = await hub.grant('--door', 'watch');
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, { tags }] of Object.entries(methods)) {
        const { status, body } = await hub.request(path.replaceAll(/\{\w+\}/g, 'x'), { token, method: method.toUpperCase() });
        await body?.cancel();
        expect([method, path, status]).toEqual([method, path, (tags as string[]).includes('watch') ? 200 : 403]);
      }
  });

  it('says of each number of a query which ones it may be, and means it', { tags: ['P-728'] }, async () => {
    const tried: string[] = [];
    for (const [path, { get }] of Object.entries(document.paths))
      for (const { name, schema } of (get?.parameters ?? []) as { name: string; schema: JsonObject }[]) {
        if (schema.type !== 'integer') continue;
        const [least, most] = [Number(schema.minimum), Number(schema.maximum)];
        const statusOf = async (value: number | string): Promise<number> => {
          const { status, body } = await hub.request(`${path}?${name}=${value}`, { token: hub.ownerToken });
          await body?.cancel();
          return status;
        };
        expect([name, await statusOf(least), await statusOf(most)]).toEqual([name, 200, 200]);
        expect([name, await statusOf(least - 1), await statusOf('x'), await statusOf(1.5)]).toEqual([name, 422, 422, 422]);
        tried.push(`${path.replace(prefix, '')}?${name}`);
      }
    expect(tried).toEqual(['/calls?limit', '/logs?limit', '/logs?after']);
  });

  it('makes a client in TypeScript that compiles without exceptions, and works', {
    timeout: 120_000,
    tags: ['deep', 'P-728'],
  }, async () => {
    const { default: openapiTS, astToString } = await import('openapi-typescript');
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-client-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    symlinkSync(fileURLToPath(new URL('../../../../node_modules', import.meta.url)), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'api.d.ts'), astToString(await openapiTS(document as never)));
    const use = (limit: string): string => `import createClient from 'openapi-fetch';
import type { paths } from './api.js';
const [baseUrl, token] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${token}\` } });
const { data } = await client.GET('${prefix}/calls', { params: { query: { limit: ${limit}, server: 'shop', tool: 'read' } } });
const names: (string | null)[] | undefined = data?.calls.map(({ tool }) => tool);
const log = await client.GET('${prefix}/logs', { params: { query: { limit: 1, level: 'info' } } });
const last: number | undefined = log.data?.last;
const again = await client.GET('${prefix}/logs', { params: { query: { after: (last ?? 1) - 1 } } });
console.log(JSON.stringify([names, again.data?.lines.length, (await client.POST('${prefix}/grants', { body: { allow: ['shop:*'], calls: 2 } })).data?.grant.calls]));
`;
    writeFileSync(join(folder, 'right.mts'), use('1'));
    writeFileSync(join(folder, 'wrong.mts'), use("'1'"));
    const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
    const options = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
    const compile = (file: string): Promise<string> =>
      execute(process.execPath, [compiler, ...options, file], { cwd: folder }).then(
        () => '',
        ({ stdout }) => String(stdout),
      );
    expect(await compile('wrong.mts')).toContain("Type 'string' is not assignable to type 'number'");
    expect(await compile('right.mts')).toBe('');
    await hub.call('shop', 'read', {}, hub.ownerToken);
    const { stdout } = await execute(process.execPath, [join(folder, 'right.mjs'), hub.url, hub.ownerToken]);
    expect(JSON.parse(stdout)).toEqual([['read'], 1, 2]);
  });

  it('says what each route takes and answers', { timeout: 120_000, tags: ['deep', 'P-510'] }, async () => {
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
    ajv.addSchema(document, 'api');
    const seen = new Set<string>();
    const ask = async (
      method: string,
      path: string,
      names: Record<string, string> = {},
      body?: JsonObject,
      of = hub,
    ): Promise<JsonObject> => {
      const operation = document.paths[`${prefix}${path}`]?.[method] ?? {};
      const schema = (of: unknown): string => String(schemaIn(of).$ref).replace('#', 'api#');
      if (body !== undefined && operation.requestBody !== undefined) expectValid(ajv, schema(operation.requestBody), body);
      const at = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''));
      const response = await of.request(`${prefix}${at}`, { token: of.ownerToken, method: method.toUpperCase(), ...(body && { body }) });
      const answer = (await response.json()) as JsonObject;
      expect([path, response.status, answer]).toEqual([path, 200, answer]);
      expectValid(ajv, schema((operation.responses as JsonObject)['200']), answer);
      seen.add(`${method} ${prefix}${path}`);
      return answer;
    };
    for (const path of ['', '/servers', '/approvals', '/grants', '/bindings']) await ask('get', path);
    for (const action of ['stop', 'start', 'restart']) await ask('post', `/servers/{name}/${action}`, { name: 'shop' });
    await ask('get', '/servers/{name}', { name: 'shop' });
    const { grant } = await ask('post', '/grants', {}, { allow: ['shop:*'], label: 'x', ttl_seconds: 60, calls: 3 });
    await ask('post', '/grants/preview', {}, { allow: ['shop:re*'], read_only: true });
    await ask('get', '/grants');
    await ask('post', '/grants/{id}/renew', { id: String((grant as JsonObject).id) }, { ttl_seconds: 60 });
    await ask('delete', '/grants/{id}', { id: String((grant as JsonObject).id) });
    const waiting = hub.call('shop', 'add', {}, hub.ownerToken);
    await expect.poll(async () => ((await ask('get', '/approvals')).approvals as unknown[]).length).toBe(1);
    const running = ((await ask('get', '/calls')).calls as JsonObject[])[0];
    const [approval] = (await ask('get', '/approvals')).approvals as JsonObject[];
    await ask('get', '/approvals/{id}', { id: String(approval?.id) });
    await ask('post', '/approvals/{id}', { id: String(approval?.id) }, { decision: 'once' });
    await waiting;
    await ask('get', '/calls/{id}', { id: String(running?.id) });
    const cancelled = hub.call('shop', 'remove', {}, hub.ownerToken);
    await expect.poll(async () => ((await ask('get', '/calls')).calls as JsonObject[])[0]?.tool).toBe('remove');
    const [last] = (await ask('get', '/calls')).calls as JsonObject[];
    await ask('post', '/calls/{id}/cancel', { id: String(last?.id) });
    await cancelled;
    await ask('get', '/logs');
    const agents = [await openLegacyAgent(hub, () => hub.ownerToken, 'First'), await openLegacyAgent(hub, () => hub.ownerToken, 'Second')];
    const write = { name: 'add_text_cell', arguments: { cellIndex: 0, content: 'x' } };
    await agents[0]?.('tools/call', write);
    const listed = (await ask('get', '/agents')).agents as JsonObject[];
    const id = async (): Promise<string> => String(((await ask('get', '/notebooks')).notebooks as JsonObject[])[0]?.id);
    const here = { id: await id() };
    const leaseNow = async (): Promise<{ holder: { id: string } | null; asking: { question: number }[] }> =>
      ((await ask('get', '/notebooks')).notebooks as JsonObject[])[0]?.lease as never;
    const { address } = await ask('post', '/notebooks/{id}/address', here, {});
    using _window = await WindowSocket.open(String(address));
    const asked = agents[1]?.('tools/call', { name: 'take_over', arguments: { reason: 'the plot' } });
    await expect.poll(async () => (await leaseNow()).asking.length).toBe(1);
    await ask('post', '/notebooks/{id}/answer', here, { question: (await leaseNow()).asking[0]?.question ?? 0, yes: true });
    await asked;
    await ask('post', '/notebooks/{id}/lease', here, { agent: (await leaseNow()).holder?.id ?? '', may_hold: false });
    await ask('get', '/notebooks');
    await ask('post', '/notebooks/{id}/release', here, {});
    for (const action of ['undo', 'stop', 'restart']) await ask('post', `/notebooks/{id}/${action}`, here, {});
    await ask('delete', '/agents/{id}', { id: String(listed[0]?.id) });
    hub.writeConfig({});
    await expect.poll(async () => (await ask('get', '/config')).edit).toMatchObject({ removed: ['shop'] });
    writeFileSync(hub.configFile, '{"mcpServers": {"x": {"comand": "y"}}}');
    await expect.poll(async () => (await ask('get', '/config')).refused).toMatchObject({ faults: [{ line: 1 }, expect.anything()] });
    await using ofPage = await ServedHub.start({ args: ['--no-browser'] });
    const askOther = (method: string, path: string, names: Record<string, string>, body?: JsonObject): Promise<JsonObject> =>
      ask(method, path, names, body, ofPage);
    const [page] = (await askOther('get', '/notebooks', {})).notebooks as JsonObject[];
    await askOther('post', '/notebooks/{id}/disconnect', { id: String(page?.id) }, {});
    const file = join(ofPage.home, 'work.ipynb');
    await using agent = await Program.open({ args: ['--notebook', file], env: ofPage.env, name: 'Of stdio' });
    await agent.callTool('add_text_cell', { cellIndex: 0, content: 'x' });
    const [process] = (await askOther('get', '/notebooks/elsewhere', {})).processes as { notebooks: { id: string }[] }[];
    const there = { id: process?.notebooks[0]?.id ?? '' };
    expect(await askOther('post', '/notebooks/elsewhere/{id}/release', there, {})).toEqual({ holder: 'Of stdio' });
    await askOther('post', '/notebooks/elsewhere/{id}/end', there, { force: false });
    // The broker may have ended with it.
    const { processes } = await askOther('get', '/notebooks/elsewhere', {});
    expect((processes as { notebooks: unknown[] }[]).flatMap(({ notebooks }) => notebooks)).toEqual([]);
    await ofPage.run('stop', 'all');
    await untilBrokerEnded(ofPage.env.XDG_STATE_HOME ?? '');
    await ask('post', '/console/links', {});
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect([...seen, `get ${prefix}/events`].sort()).toEqual(described.sort());
    // A refusal too.
    const refused = await hub.request(`${prefix}/servers/none`, { token: hub.ownerToken });
    expectValid(ajv, 'api#/components/schemas/Refusal', await refused.json());
  });
});

function schemaIn(described: unknown): JsonObject {
  const { content } = described as { content: { 'application/json': { schema: JsonObject } } };
  return isJsonObject(content) ? content['application/json'].schema : {};
}

function expectValid(ajv: Ajv2020, schema: string, value: unknown): void {
  const validate = ajv.getSchema(schema);
  expect(validate, schema).toBeDefined();
  validate?.(value);
  expect({ schema, errors: validate?.errors ?? null, value }).toEqual({ schema, errors: null, value });
}
