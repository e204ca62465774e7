import { didYouMean } from '@notebridge/kit/did-you-mean';
import type { JsonObject } from '@notebridge/kit/json';
import { type ToolResult, toTextResult } from '../../core/mcp.js';
import { quote } from '../../util/quote.js';
import { shownName } from './one-line.js';
import type { SearchParams } from './parse-params.js';
import type { Entry, FoundEntry } from './searched-tools.js';
import type { SeenServer } from './seen-server.js';
import { isReadOnly, lineOf, lineOfServer, recordOf } from './show-tools.js';
import type { ToolView } from './tool-view.js';
import { writeStubs } from './write-stubs.js';

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
  const entries = wanted.map((tool): { entry: Entry } => ({ entry: { kind: 'tool', server: name, tool } }));
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

async function show(view: ToolView, params: SearchParams, all: readonly { entry: Entry; score?: number }[]): Promise<ToolResult> {
  const { offset, limit, detail } = params;
  const shown = all.slice(offset, offset + limit);
  const { lines, notes } = await linesOf(view, shown, detail);
  const structured = { results: shown.map(recordOf), total: all.length };
  const hasSkill = shown.some(({ entry }) => entry.kind === 'skill');
  return withNotes([...lines, ...notes, ...(hasSkill ? [howToRun] : []), ...pageNote(all.length, params)], structured, view);
}

async function linesOf(
  view: ToolView,
  shown: readonly { entry: Entry; score?: number }[],
  detail: SearchParams['detail'],
): Promise<{ lines: string[]; notes: string[] }> {
  const lines = shown.map((each) => lineOf(each, detail));
  if (detail !== 'full') return { lines, notes: [] };
  const addresses = shown.flatMap(({ entry }) => (entry.kind === 'tool' ? [{ server: entry.server, tool: entry.tool.name }] : []));
  const { text, notes } = await writeStubs(await view.stubs(), addresses);
  return { lines: [...shown.map((each) => lineOf(each, 'name')), `\n${text}\n`], notes };
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
