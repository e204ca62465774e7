import type { ListToolsResult, Tool, ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import { type Answered, answer, type CallNext, type Middleware, type MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { refusedUnread } from '@notebridge/protocol/runs/cell-rev';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { toAnswerValue } from '../changes/change-call.js';
import { KnownSources, type SessionSources, type ShownSource } from './known-sources.js';
import { parseStaleResult, toStaleAnswer } from './stale-answer.js';

type CallHook = CallNext<ToolCall, ToolResult>;

/** The tools that replace or remove the source of a cell. Each takes `expected_rev`, and `cellId`; what it writes, if anything, is `content`. */
export const editingTools: ReadonlySet<string> = new Set(['update_cell', 'delete_cell']);
/** The tools that answer with sources, a new cell, or what was taken back. */
const telling: ReadonlySet<string> = new Set(['get_cells', 'add_code_cell', 'add_text_cell', 'run_code', 'undo_last_change']);
/** The revision of no cell. */
const unread = 0;

export interface ReadBeforeWriteOptions {
  /** The notebook's `get_cells` reads ranges of one source. Default true. */
  readsRanges?: boolean | undefined;
}

/**
 * Has an agent replace or remove only what it has read. A call that names no revision gets that of the source which its session last saw
 * whole, or wrote; the notebook refuses it where that is not the cell's any more, and the refusal shows what is there: then it is read. Since
 * a call that names the revision suffices, the agent is told it only with, or after, the whole source.
 */
export class ReadBeforeWriteMiddleware implements Middleware {
  readonly name = 'ReadBeforeWriteMiddleware';
  readonly #known = new KnownSources();
  readonly #readsRanges: boolean;

  constructor({ readsRanges = true }: ReadBeforeWriteOptions = {}) {
    this.#readsRanges = readsRanges;
  }

  async onListTools(context: MiddlewareContext, callNext: CallNext<JsonObject, ListToolsResult>): Promise<Answered<ListToolsResult>> {
    const listed = await callNext(context);
    const isSilent = ({ name, description = '', inputSchema: { properties } }: Tool): boolean =>
      editingTools.has(name) && isJsonObject(properties) && 'cellId' in properties && !description.includes(refusedUnread);
    if (!listed.tools.some(isSilent)) return listed;
    const tools = listed.tools.map((tool) => (isSilent(tool) ? { ...tool, description: withSentence(tool.description) } : tool));
    return { ...listed, tools };
  }

  /** Not async: other calls pay nothing here. A person who calls a tool knows what it does. */
  onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallHook): Promise<Answered<ToolResult>> {
    const { name, arguments: args } = context.message;
    if (context.isTyped === true) return callNext(context);
    if (editingTools.has(name) && isJsonObject(args) && typeof args.cellId === 'string') return this.#edit(context, callNext, args.cellId);
    return telling.has(name) ? this.#listen(context, callNext) : callNext(context);
  }

  async #listen(context: MiddlewareContext<ToolCall>, callNext: CallHook): Promise<Answered<ToolResult>> {
    const { name, arguments: args = {} } = context.message;
    const known = this.#known.of(context.caller.sessionId);
    const at = known.begin();
    const result = await callNext(context);
    if (name === 'get_cells') return answer(withReadRevs(result, (shown) => known.noteShown(shown, at), this.#readsRanges));
    const value = toAnswerValue(result);
    if (name === 'undo_last_change') noteUndone(known, value?.undone, at);
    // A new cell that this session has read since is known as it was then.
    else if (typeof value?.newCellId === 'string' && known.find(value.newCellId) === undefined) {
      const source = name === 'add_text_cell' ? args.content : args.code;
      const type = name === 'add_text_cell' ? 'markdown' : 'code';
      if (typeof source === 'string') known.noteWritten(value.newCellId, { type, source, over: undefined, at });
    }
    return result;
  }

  /** Sends an edit. On its way it counts as written, for calls that come right behind it; that is taken back if it was not done. */
  async #edit(context: MiddlewareContext<ToolCall>, callNext: CallHook, cellId: string): Promise<Answered<ToolResult>> {
    const known = this.#known.of(context.caller.sessionId);
    const { arguments: args = {} } = context.message;
    const isNamed = args.expected_rev !== undefined;
    const before = known.find(cellId);
    const at = known.begin();
    const rev = isNamed ? toPlainValue(args.expected_rev) : (before?.rev ?? unread);
    let { result, refused } = await this.#send(context, callNext, { known, cellId, rev, at });
    // The cell has what this session wrote itself, in another form: the edit is sent again with the revision of that.
    if (!isNamed && refused !== undefined && before?.others.includes(refused.currentRev))
      ({ result, refused } = await this.#send(context, callNext, { known, cellId, rev: refused.currentRev, at }));
    if (refused === undefined) return result;
    const told = toStaleAnswer(refused, { known: known.find(cellId), isNamed, readsRanges: this.#readsRanges });
    const { currentType: type, currentSource: source, currentRev } = refused;
    if (told.isShown) known.noteRead(cellId, { type, source, rev: currentRev, at });
    return answer(told.result);
  }

  async #send(context: MiddlewareContext<ToolCall>, callNext: CallHook, { known, cellId, rev, at }: Edit) {
    const { message, target } = context;
    const { content } = message.arguments ?? {};
    const over = typeof rev === 'number' ? rev : undefined;
    const end = typeof content === 'string' ? known.noteWritten(cellId, { source: content, over, at }) : () => {};
    try {
      const result = await callNext(
        context.copy({ message: { ...message, arguments: { ...message.arguments, expected_rev: rev } }, target }),
      );
      end(result.isError !== true);
      return { result, refused: parseStaleResult(result) };
    } catch (error) {
      end(false);
      throw error;
    }
  }
}

interface Edit {
  known: SessionSources;
  cellId: string;
  rev: unknown;
  /** The number of the call. */
  at: number;
}

function noteUndone(known: SessionSources, undone: unknown, at: number): void {
  if (!isJsonObject(undone) || typeof undone.cellId !== 'string') return;
  known.noteUndone({ change: undone.change, cellId: undone.cellId, newCellId: undone.newCellId }, at);
}

function withSentence(description: string | undefined): string {
  return description === undefined || description === '' ? refusedUnread : `${description} ${refusedUnread}`;
}

/**
 * An answer of `get_cells`, in which each revision is left out whose source the agent does not have: with it, an edit would replace what
 * nobody has read. `isRead` is told each source that the answer shows, whole or in part, and says whether the agent has all of it now.
 */
function withReadRevs(result: ToolResult, isRead: (shown: ShownSource) => boolean, readsRanges: boolean): ToolResult {
  const [block, ...others] = Array.isArray(result.content) ? result.content : [];
  const text = result.isError === true ? undefined : block?.text;
  if (block === undefined || typeof text !== 'string') return result;
  const value = tryJson(text);
  if (!isJsonObject(value) || !Array.isArray(value.cells)) return result;
  const unread = new Set<number>();
  for (const [index, cell] of value.cells.entries()) {
    const shown = toShownSource(cell);
    const isKnown = shown !== undefined && isRead(shown);
    if (!isKnown && isJsonObject(cell) && 'rev' in cell) unread.add(index);
  }
  if (unread.size === 0) return result;
  // Outputs keep the digits of their numbers.
  const exact = parseJson(text) as JsonObject & { cells: JsonObject[] };
  const cells = exact.cells.map((cell, index) => (unread.has(index) ? withoutRev(cell) : cell));
  const told = { ...exact, cells, rev_note: readsRanges ? `${notWhole} ${howToRead}` : notWhole };
  const structured = isJsonObject(result.structuredContent) ? { structuredContent: told } : {};
  return { ...result, content: [{ ...block, text: printJson(told) }, ...others], ...structured };
}

const notWhole = 'A source that you have not read whole has no "rev".';
const howToRead = 'Read it with cellId and sourceFrom 0, and on from next_source_from to its end: the last answer has it.';

function withoutRev({ rev: _, ...cell }: JsonObject): JsonObject {
  return cell;
}

function toShownSource(cell: unknown): ShownSource | undefined {
  if (!isJsonObject(cell)) return undefined;
  const { id: cellId, cell_type: type, rev, source_from: from, characters } = cell;
  const source = toSource(cell.source);
  if (typeof cellId !== 'string' || typeof type !== 'string' || source === undefined) return undefined;
  const part = typeof from === 'number' && typeof characters === 'number' ? { from, characters } : undefined;
  return { cellId, type, source, rev: typeof rev === 'number' ? rev : undefined, part };
}

/** Both forms of nbformat: one text, or its lines. */
export function toSource(source: unknown): string | undefined {
  if (typeof source === 'string') return source;
  return Array.isArray(source) && source.every((line) => typeof line === 'string') ? source.join('') : undefined;
}
