import { refusedUnread } from '@notebridge/kit/cell-rev';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { ListToolsResult, Tool, ToolCall, ToolResult } from '../../core/mcp.js';
import { type Answered, answer, type CallNext, type Middleware, type MiddlewareContext } from '../../core/middleware.js';
import { toPlainValue } from '../../core/wire.js';
import { toAnswerValue } from '../changes/change-call.js';
import { KnownSources, type SessionSources } from './known-sources.js';
import { withReadRevs } from './shown-sources.js';
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
