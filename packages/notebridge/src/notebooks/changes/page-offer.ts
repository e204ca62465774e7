import type { Tool } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { McpClient } from '@notebridge/protocol/rpc/mcp-client';
import type { ReadLimits } from './cell-reader.js';

/** What a page itself lists, as far as undo is concerned. */
export interface PageOffer {
  /** The names of its tools. */
  readonly names: ReadonlySet<string>;
  /** Those that take what the profile's tool of the same name takes: a page with something else there is left alone. */
  readonly alike: ReadonlySet<string>;
  /** The tools that take `expected_rev`, and check it themselves, by name. */
  readonly checking: ReadonlySet<string>;
}

export const emptyOffer: PageOffer = { names: new Set(), alike: new Set(), checking: new Set() };

/** Pages of one list that are followed; one that never ends is cut here. */
const maxPages = 10;

/** Asks a page what it offers. Rejects as the client does. */
export async function listOffer(client: McpClient, profileTools: readonly Tool[], limits: ReadLimits): Promise<PageOffer> {
  const names = new Set<string>();
  const alike = new Set<string>();
  const checking = new Set<string>();
  let cursor: unknown;
  for (let page = 0; page < maxPages; page++) {
    const { tools, nextCursor } = await client.request('tools/list', cursor === undefined ? {} : { cursor }, limits);
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isJsonObject(tool) || typeof tool.name !== 'string' || names.has(tool.name)) continue;
      names.add(tool.name);
      if (takesRev(tool.inputSchema)) checking.add(tool.name);
      const wanted = profileTools.find(({ name }) => name === tool.name);
      if (wanted !== undefined && takesTheSame(tool.inputSchema, wanted.inputSchema)) alike.add(tool.name);
    }
    if (typeof nextCursor !== 'string') break;
    cursor = nextCursor;
  }
  return { names, alike, checking };
}

function takesRev(schema: unknown): boolean {
  return isJsonObject(schema) && isJsonObject(schema.properties) && 'expected_rev' in schema.properties;
}

/** The same arguments are required, and those that the profile knows are of the same type. More optional ones are no difference. */
function takesTheSame(found: unknown, wanted: JsonObject): boolean {
  if (!isJsonObject(found) || !isJsonObject(found.properties) || !isJsonObject(wanted.properties)) return false;
  const { properties } = found;
  const sameTypes = Object.entries(wanted.properties).every(([key, schema]) => typeOf(properties[key]) === typeOf(schema));
  return sameTypes && requiredBy(found) === requiredBy(wanted);
}

function typeOf(schema: unknown): unknown {
  return isJsonObject(schema) ? schema.type : undefined;
}

function requiredBy({ required = [] }: JsonObject): string {
  return JSON.stringify(Array.isArray(required) ? required.toSorted() : required);
}
