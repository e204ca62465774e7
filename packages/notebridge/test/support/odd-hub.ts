import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ListMethod, listMethods } from '@notebridge/protocol/core/list-methods';
import type { JsonObject } from '@notebridge/protocol/json';
import { oddItems, oddLists, oddTools, shownOf, validTools } from './odd-entries.js';
import { ServedHub } from './served-hub.js';
import { fixtureServer } from './upstreams.js';

const methods = Object.keys(listMethods) as ListMethod[];
const fine = { name: 'fine', inputSchema: { type: 'object' } };
/** What clients see of the hub of `startOddHub`. */
export const expectedLists: Readonly<Record<ListMethod, readonly unknown[]>> = {
  'tools/list': [...[...shownOf(oddTools), ...validTools].map(({ name }) => `odd__${name}`), 'many__fine', 'fine__fine'].sort(),
  'prompts/list': shownOf(oddItems['prompts/list'])
    .map(({ name }) => `odd__${name}`)
    .sort(),
  'resources/list': shownOf(oddItems['resources/list']).map(({ uri }) => uri),
  'resources/templates/list': shownOf(oddItems['resources/templates/list']).map(({ uriTemplate }) => uriTemplate),
};

/** A hub whose servers have odd entries in all lists. */
export async function startOddHub(): Promise<{ hub: ServedHub; close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-odd-'));
  const lists = Object.fromEntries(methods.map((method) => [method, { [listMethods[method].items]: oddLists[method], nextCursor: null }]));
  const many = { 'tools/list': { tools: [...Array.from({ length: 9999 }, (_, at) => ({ name: at, inputSchema: at })), fine] } };
  const servers = {
    odd: lister(folder, 'odd', lists),
    many: lister(folder, 'many', {
      ...many,
      'prompts/list': { prompts: [] },
      'resources/list': { resources: [] },
      'resources/templates/list': { resourceTemplates: [] },
    }),
    fine: lister(folder, 'fine', { 'tools/list': { tools: [fine] } }),
  };
  const hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  const close = async (): Promise<void> => {
    await hub[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
  return { hub, close };
}

function lister(folder: string, name: string, lists: JsonObject): JsonObject {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(lists));
  return { command: process.execPath, args: [fixtureServer('lists.mjs'), file] };
}
