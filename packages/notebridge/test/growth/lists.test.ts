// @module-tag deep

// @runs process
import { loadChecked, loadEmitter, loadStubs } from '@notebridge/bindings';
import { gatherInput } from '@notebridge/code-mode/bindings/input';
import { lineOf } from '@notebridge/code-mode/search/show-tools';
import { ToolView } from '@notebridge/code-mode/search/tool-view';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { listMethods } from '@notebridge/protocol/core/list-methods';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { MemoryToolServer, MemoryToolServers } from '@notebridge/protocol/core/memory-tool-server';
import { parseJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { silentLogger } from '@notebridge/protocol/util/logger';
import { describe, expect, it } from 'vitest';
import { ServerTools } from '../../src/catalog/server-tools.js';
import { fetchList } from '../../src/upstreams/fetch-list.js';
import { createContext } from '../support/create-context.js';
import { type GrowingKind, growthOfWork, testGrowth, textsIn } from '../support/growth.js';

/** A server that answers its lists with what it was sent. */
class SaidServer extends MemoryToolServer {
  readonly #said: JsonObject;
  readonly #tools: readonly Tool[];

  constructor(said: JsonObject, tools: readonly Tool[]) {
    super({ name: 'said', names: 'plain' });
    this.#said = said;
    this.#tools = tools;
  }

  override get knownTools(): readonly Tool[] {
    return this.#tools;
  }

  override async listTools(): Promise<readonly Tool[]> {
    return this.#tools;
  }

  override async request(method: string): Promise<JsonObject> {
    if (method.endsWith('/list')) return this.#said;
    throw new BridgeError('bad_params', 'It only lists.');
  }
}

const toolOf = (more: JsonObject): JsonObject => ({ name: 'a', description: 'Does a thing.', inputSchema: { type: 'object' }, ...more });
const listOf = (tools: unknown): JsonObject => ({ tools });
const argumentsOf = (schema: JsonObject): JsonObject => listOf([toolOf({ inputSchema: { type: 'object', ...schema } })]);
const mapOf = (part: unknown, toValue: (text: string, index: number) => unknown): JsonObject =>
  Object.fromEntries(textsIn(part).map((text, index) => [text, toValue(text, index)]));

const toolLists: Record<string, (part: unknown) => JsonObject> = {
  tools: listOf,
  'names of tools': (part) => listOf(textsIn(part).map((name) => toolOf({ name }))),
  'names of tools that differ in signs': (part) => listOf(textsIn(part).map((_, at) => toolOf({ name: `a${'!?'.repeat(at % 200)}${at}` }))),
  'names of tools that become one': (part) =>
    listOf(textsIn(part).map((_, at) => toolOf({ name: `get_${String.fromCodePoint(0x2_0000 + at)}` }))),
  'the name of a tool': (part) => listOf([toolOf({ name: part })]),
  'a description': (part) => listOf([toolOf({ description: part })]),
  'a title': (part) => listOf([toolOf({ title: part, annotations: { title: part } })]),
  annotations: (part) => listOf([toolOf({ annotations: part, _meta: part })]),
  'a schema': (part) => listOf([toolOf({ inputSchema: part, outputSchema: part })]),
  'arguments, and those required': (part) => argumentsOf({ properties: mapOf(part, () => ({ type: 'string' })), required: textsIn(part) }),
  'required arguments alone': (part) => argumentsOf({ required: textsIn(part) }),
  'the name of an argument': (part) => argumentsOf({ properties: { [textsIn(part).join(' ')]: true } }),
  'the description of an argument': (part) => argumentsOf({ properties: { a: { type: 'string', description: part, default: part } } }),
  'the values of an argument': (part) => argumentsOf({ properties: { a: { enum: part } } }),
  'types of an argument': (part) => argumentsOf({ properties: { a: { type: part, anyOf: part } } }),
  choices: (part) => argumentsOf({ anyOf: textsIn(part).map((text) => ({ properties: { a: { const: text } }, required: ['a'] })) }),
  'choices of other arguments': (part) => argumentsOf({ oneOf: textsIn(part).map((text) => ({ properties: { [text]: true } })) }),
  parts: (part) => argumentsOf({ allOf: textsIn(part).map((text) => ({ properties: { a: { const: text }, [text]: true } })) }),
  'parts with many arguments': (part) => {
    const properties = mapOf(part, () => true);
    return argumentsOf({ allOf: [{ properties }, ...textsIn(part).map((text) => ({ properties: { a: { const: text } } }))] });
  },
  'references with more beside': (part) =>
    argumentsOf({
      properties: mapOf(part, () => ({ $ref: '#/$defs/one', type: 'object', additionalProperties: false })),
      $defs: { one: { type: 'object', properties: mapOf(part, () => true), allOf: [{ required: textsIn(part) }] } },
    }),
  references: (part) =>
    argumentsOf({ properties: mapOf(part, () => ({ $ref: '#/$defs/one' })), $defs: { one: { properties: mapOf(part, () => true) } } }),
  definitions: (part) =>
    argumentsOf({
      properties: mapOf(part, (_, at) => ({ $ref: `#/$defs/d${'!?'.repeat(at % 40)}${at}` })),
      $defs: Object.fromEntries(
        textsIn(part).map((text, at) => [`d${'!?'.repeat(at % 40)}${at}`, { type: 'object', properties: { [text]: true } }]),
      ),
    }),
  'definitions of one name': (part) =>
    argumentsOf({
      properties: mapOf(part, (_, at) => ({ $ref: `#/$defs/d${String.fromCodePoint(0x4e00 + (at % 20_000))}` })),
      $defs: Object.fromEntries(
        textsIn(part).map((_, at) => [`d${String.fromCodePoint(0x4e00 + (at % 20_000))}`, { type: 'object', properties: {} }]),
      ),
    }),
  anchors: (part) =>
    argumentsOf({
      properties: mapOf(part, (_, at) => ({ $ref: `#d${at}` })),
      $defs: Object.fromEntries(textsIn(part).map((_, at) => [`x${at}`, { $anchor: `d${at}`, type: 'string' }])),
    }),
  'definitions in a row': (part) =>
    argumentsOf({
      properties: { a: { $ref: '#/$defs/d0' } },
      $defs: Object.fromEntries(
        textsIn(part)
          .slice(0, 3000)
          .map((_, at) => [`d${at}`, { properties: { next: { $ref: `#/$defs/d${at + 1}` } } }]),
      ),
    }),
  'a reference': (part) => argumentsOf({ properties: { a: { $ref: `#/${textsIn(part).join('/')}` } } }),
};

async function toolsIn(text: string): Promise<Tool[]> {
  const session = { request: async () => parseJson(text) as JsonObject };
  const { items } = await fetchList(session, 'tools/list', { server: 'said', logger: silentLogger });
  return items as Tool[];
}

/** Lists them to agents, who call one that is not there; searches them. */
async function takeTools(text: string): Promise<void> {
  const tools = await toolsIn(text);
  const other = new MemoryToolServer({
    name: 'other',
    tools: [{ name: 'a', inputSchema: { type: 'object' }, run: async () => ({ content: [] }) }],
  });
  const listed = new ServerTools({ servers: new MemoryToolServers([new SaidServer({}, tools), other]), logger: silentLogger });
  await listed.request('tools/list', {}, createContext('tools/list'));
  await listed.request('tools/call', { name: 'othr__a' }, createContext('tools/call')).catch(() => {});
  const servers = [{ name: 'said', description: 'Says.', isSkills: false, tools, list: tools, reason: undefined }];
  const found = await new ToolView(servers, []).find({ query: 'do a thing', server: undefined, readOnly: false });
  for (const each of found.slice(0, 50)) lineOf(each, 'line');
}

const python = await loadEmitter('python');
const typescript = await loadEmitter('typescript');
const checked = await loadChecked();

async function bind(text: string): Promise<void> {
  const servers = new MemoryToolServers([new SaidServer({}, await toolsIn(text))]);
  const { input } = await gatherInput(servers, { hubUrl: undefined, timeoutMs: 1000 });
  await python(input);
  await typescript(input);
  await checked(input);
  const stubs = await loadStubs({ servers: input.servers });
  const [first] = stubs.names.values();
  if (first !== undefined) await stubs.stubOf(first);
}

const itemLists = Object.entries(listMethods).flatMap(([method, { items, key }]): GrowingKind[] => {
  const take = async (text: string): Promise<void> => {
    const said = parseJson(text);
    if (!isJsonObject(said)) return;
    const servers = new MemoryToolServers([new SaidServer(said, []), new MemoryToolServer({ name: 'other' })]);
    await new ServerTools({ servers, logger: silentLogger }).request(method, {}, createContext(method));
  };
  return [
    [`${items}, answered`, (part) => ({ [items]: part }), take],
    [`the names of ${items}`, (part) => ({ [items]: textsIn(part).map((text) => ({ [key]: text })) }), take],
    [
      `what ${items} have`,
      (part) => ({ [items]: [{ [key]: 'a', description: part, arguments: part }], _meta: part, nextCursor: part }),
      take,
    ],
  ];
});

describe('a list of a server that grows', () => {
  testGrowth([...Object.entries(toolLists).map(([name, make]): GrowingKind => [name, make, takeTools]), ...itemLists], {
    coreHasOneIn: 48,
    tags: ['P-648'],
  });
});

describe('bindings of tools that grow', () => {
  testGrowth(
    Object.entries(toolLists).map(([name, make]): GrowingKind => [name, make, bind]),
    { coreHasOneIn: 48, tags: ['P-648'], bounds: { leastSize: 128, maxBytes: 2 ** 18 } },
  );
});

describe('tools whose names become one in Python', () => {
  it('are named in time with their number', { tags: ['P-648'] }, async () => {
    const toolAt = (_: unknown, at: number) => ({ name: `get_${String.fromCodePoint(0x2_0000 + at)}`, inputSchema: {} });
    const work = (size: number): unknown =>
      loadStubs({ servers: [{ name: 'said', description: undefined, tools: Array.from({ length: size }, toolAt) }] });
    expect(await growthOfWork(work, 2 ** 15)).toBeLessThan(8);
  });
});
