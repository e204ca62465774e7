import type { ToolStubs } from '@notebridge/bindings';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type ToolResult, toTextResult } from '@notebridge/protocol/core/mcp';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { JsonObject } from '@notebridge/protocol/json';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { quote } from '@notebridge/protocol/util/quote';
import type { SeenServer } from './known-tools.js';
import { shownName } from './one-line.js';
import type { SearchParams } from './search-params.js';
import { type FoundEntry, isReadOnly, lineOf, lineOfServer, recordOf } from './show-tools.js';
import type { ResolveName } from './spellings.js';
import { TimeSlices } from './time-slices.js';
import type { ToolView } from './tool-view.js';

/** Characters of all stubs of one answer, and of one of them. */
const maxText = 40_000;
const maxStub = 16_000;
const howToRun =
  'Skills: from generated.skills import load_skill, run_skill; await load_skill(name) says what arguments it has, (await run_skill(name, kwargs={…}))["result"] runs it.';

/** What was found for a query. */
export async function answerOfSearch(view: ToolView, params: SearchParams, found: readonly FoundEntry[]): Promise<ToolResult> {
  if (found.length === 0) return withNotes([nothingFound(view, params)], { results: [], total: 0 }, view);
  return show(view, params, found);
}

/** The tools of one server. */
export async function answerOfList(view: ToolView, { name, tools }: SeenServer, params: SearchParams): Promise<ToolResult> {
  const wanted = params.readOnly ? tools.filter(isReadOnly) : tools;
  const entries = wanted.map((tool): FoundEntry => ({ entry: { kind: 'tool', server: name, tool } }));
  if (entries.length > 0) return show(view, params, entries);
  const text =
    params.readOnly && tools.length > 0 ? `None of its ${tools.length} tools is marked read-only.` : 'It has no tools that you may call.';
  return withNotes([text], { results: [], total: 0 }, view);
}

/** All servers, and the skills. */
export function answerOfServers(view: ToolView, { offset, limit }: SearchParams): ToolResult {
  const shown = view.servers.slice(offset, offset + limit);
  const skills = view.skills.length === 0 ? [] : [`skills (${view.skills.length}): found by search_tools with a query`];
  const lines = view.servers.length === 0 ? [view.namesOfServers()] : shown.map(lineOfServer);
  const servers = shown.map(({ name, tools }) => ({ server: name, tools: tools.length }));
  const text = [...lines, ...skills, ...pageNote(view.servers.length, { offset, limit })].join('\n');
  return { ...toTextResult(text), structuredContent: { servers, total: view.servers.length } };
}

/** The functions of tools, in whatever spelling their names are. Throws `unknown_tool` if none means a tool. */
export async function answerOfDescribe(view: ToolView, names: readonly string[], resolveName: ResolveName): Promise<ToolResult> {
  const spellings = await view.spellings();
  const turns = new TimeSlices();
  const found = new Map<string, ToolAddress>();
  const notes: string[] = [];
  for (const name of names) {
    const address = spellings.resolve(name, resolveName);
    if (address === undefined) notes.push(spellings.complain(name));
    else found.set(`${address.server}\0${address.tool}`, address);
    await turns.pause();
  }
  const leftOut = view.leftOut();
  if (leftOut !== '') notes.push(leftOut);
  if (found.size === 0) throw new BridgeError('unknown_tool', notes.join('\n'));
  const written = await writeStubs(await view.stubs(), [...found.values()]);
  return toTextResult([written.text, [...written.notes, ...notes].join('\n')].filter((part) => part !== '').join('\n\n\n'));
}

async function show(view: ToolView, params: SearchParams, all: readonly FoundEntry[]): Promise<ToolResult> {
  const { offset, limit, detail } = params;
  const shown = all.slice(offset, offset + limit);
  const lines = shown.map((each) => lineOf(each, detail));
  if (detail === 'full') {
    const addresses = shown.flatMap(({ entry }) => (entry.kind === 'tool' ? [{ server: entry.server, tool: entry.tool.name }] : []));
    const { text, notes } = await writeStubs(await view.stubs(), addresses);
    lines.push(`\n${text}\n`, ...notes);
  }
  if (shown.some(({ entry }) => entry.kind === 'skill')) lines.push(howToRun);
  return withNotes([...lines, ...pageNote(all.length, params)], { results: shown.map(recordOf), total: all.length }, view);
}

function pageNote(total: number, { offset, limit }: { offset: number; limit: number }): string[] {
  if (offset >= total && total > 0) return [`There are ${total}, and none behind offset ${offset}.`];
  const next = offset + limit;
  return next >= total ? [] : [`${total} in all; more with offset=${next}.`];
}

function nothingFound(view: ToolView, { query, server, readOnly }: SearchParams): string {
  const among = `${readOnly ? ' among the tools marked read-only' : ''}${server === undefined ? '' : ` of ${quote(server)}`}`;
  const names = view.servers.flatMap(({ tools }) => tools.map(({ name }) => name));
  const meant = didYouMean(query, names);
  const hint =
    meant === undefined
      ? 'Try other words, or list a server: search_tools with `server` and no query.'
      : `Did you mean ${shownName(meant)}?`;
  return `Nothing matches ${quote(query)}${among}. ${hint} ${view.namesOfServers()}`;
}

function withNotes(lines: readonly string[], structured: JsonObject, view: ToolView): ToolResult {
  const leftOut = view.leftOut();
  const text = [...lines, ...(leftOut === '' ? [] : [leftOut])].join('\n');
  return { ...toTextResult(text), structuredContent: { ...structured, ...(leftOut === '' ? {} : { left_out: leftOut }) } };
}

/** The stubs of tools, one after the other, as far as they are short enough together. `notes`: one line each, what was cut, what was left out. */
async function writeStubs(stubs: ToolStubs, addresses: readonly ToolAddress[]): Promise<{ text: string; notes: string[] }> {
  const texts: string[] = [];
  const notes: string[] = [];
  const late: string[] = [];
  let left = maxText;
  const turns = new TimeSlices();
  for (const address of addresses) {
    const name = `${shownName(address.server)}.${shownName(address.tool)}`;
    const stub = left > 0 ? await stubs.stubOf(address) : undefined;
    const whole = stub && `${stub.importLine}\n\n${stub.text}`;
    if (whole === undefined || (whole.length > left && texts.length > 0 && left < maxStub)) {
      late.push(name);
      left = 0;
      continue;
    }
    const text = whole.length > maxStub ? `${whole.slice(0, maxStub)}…` : whole;
    if (text !== whole) notes.push(`${name} is cut: it has ${whole.length} characters, and ${maxStub} are shown.`);
    texts.push(text);
    left -= text.length;
    await turns.pause();
  }
  if (late.length > 0) notes.push(`Left out, since ${maxText} characters are shown at once: ${late.join(', ')}. Ask for fewer.`);
  return { text: texts.join('\n\n\n'), notes };
}
