import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, codeOf, RemoteError } from '@notebridge/protocol/core/errors';
import type { ListToolsResult, Tool, ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import {
  type Answered,
  answer,
  type CallNext,
  type Middleware,
  type MiddlewareContext,
  type MiddlewareHost,
} from '@notebridge/protocol/core/middleware';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { PageClient } from '../pages/page-client.js';
import { editingTools } from '../reads/read-before-write.js';
import { toStaleResult } from '../reads/stale-answer.js';
import type { LocatedCell } from './cell-reader.js';
import { type ChangeCall, parseChangeCall, reverseTools } from './change-call.js';
import { type ChangeEntry, ChangeJournal } from './change-journal.js';
import { JournalledPage } from './journalled-page.js';
import { emptyOffer, type PageOffer } from './page-offer.js';
import { toEntry } from './record.js';
import { undoLast } from './undo-last.js';
import { assertNoArguments, toErrorResult, undoTool } from './undo-tool.js';

export interface UndoMiddlewareOptions {
  /** Gives the page that is connected just now. */
  client: Pick<PageClient, 'isConnected' | 'proxyMcpClient' | 'expectedForMs' | 'waitUntilConnected' | 'notified'>;
  /** The tools of a page whose changes are journalled. */
  profileTools: readonly Tool[];
  logger?: Logger;
}

type CallHook = CallNext<ToolCall, ToolResult>;

/** How long a change waits for the look at its cell, and an undo for changes that are not answered yet. Milliseconds. */
const timeoutMs = 2000;
/** The same for a change that is meant for one revision, and is not made without the look. Milliseconds. */
const checkTimeoutMs = 10_000;

/**
 * Revisions and undo for a page whose notebook has neither: a cell is read before a call of the agent changes it. One that names the revision
 * it is meant for is refused if the cell has another; `undo_last_change` is offered while there is something to take back. All other calls,
 * their order and their answers pass unchanged. Stands innermost, so that every other middleware sees the tool.
 */
export class UndoMiddleware implements Middleware {
  readonly #client: UndoMiddlewareOptions['client'];
  readonly #options: UndoMiddlewareOptions;
  readonly #journal = new ChangeJournal();
  readonly #turns = new Turns();
  readonly #pages = new WeakMap<object, JournalledPage>();
  /** Changes that the page has not answered yet. */
  readonly #unanswered = new Set<Promise<void>>();
  #lastConnection = 0;

  constructor(options: UndoMiddlewareOptions) {
    this.#options = options;
    this.#client = options.client;
  }

  /** The last change that is not taken back. */
  get lastChange(): Pick<ChangeEntry, 'change' | 'cellId'> | undefined {
    return this.#journal.last;
  }

  /**
   * Takes it back for a person. Rejects with `nothing_to_undo` or `changed_since`, also where no page of ours is connected, and with what
   * ended the conversation with the page.
   */
  async undoLast(): Promise<void> {
    const result = await this.#takeBack(new Cancellation());
    if (result === undefined) throw new BridgeError('nothing_to_undo', 'No page is connected whose changes are remembered here.');
    if (result.isError !== true) return;
    throw new BridgeError('changed_since', `The page did not take it back: ${JSON.stringify(result.content).slice(0, 500)}`);
  }

  onAdded(host: MiddlewareHost): () => void {
    const stops = [
      this.#journal.flipped.add(() => host.sendToolListChanged()),
      this.#client.notified.add(({ method }) => {
        if (method === 'notifications/tools/list_changed') this.#currentPage()?.forgetOffer();
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  async onListTools(context: MiddlewareContext, callNext: CallNext<JsonObject, ListToolsResult>): Promise<Answered<ListToolsResult>> {
    const listed = await callNext(context);
    const isOffered = !this.#journal.isEmpty && context.message.cursor === undefined;
    if (!isOffered || listed.tools.some(({ name }) => name === undoTool.name)) return listed;
    return { ...listed, tools: [...listed.tools, undoTool] };
  }

  /** Not async: a call that changes nothing, or that no page could take back, pays nothing here. */
  onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallHook): Promise<Answered<ToolResult>> {
    if (context.message.name === undoTool.name) return this.#undo(context, callNext);
    const { arguments: args } = context.message;
    if (isJsonObject(args) && 'expected_rev' in args && editingTools.has(context.message.name)) return this.#check(context, callNext, args);
    const call = parseChangeCall(context.message);
    const page = call === undefined ? undefined : this.#currentPage();
    if (call !== undefined && page !== undefined && !isKnownNotToFit(page, call)) return this.#passOn(context, callNext, call, page);
    const { last } = this.#turns;
    return last === undefined ? callNext(context) : last.then(() => callNext(context));
  }

  #currentPage(): JournalledPage | undefined {
    const session = this.#client.isConnected() ? this.#client.proxyMcpClient : undefined;
    if (session === undefined) return undefined;
    const known = this.#pages.get(session);
    if (known !== undefined) return known;
    const page = new JournalledPage(++this.#lastConnection, session, this.#options.profileTools);
    this.#pages.set(session, page);
    return page;
  }

  async #passOn(
    context: MiddlewareContext<ToolCall>,
    callNext: CallHook,
    call: ChangeCall,
    page: JournalledPage,
  ): Promise<Answered<ToolResult>> {
    const deadline = performance.now() + timeoutMs;
    const turn = this.#turns.take();
    let answering: Promise<Answered<ToolResult>>;
    let record: (result: ToolResult) => void;
    try {
      await turn.before;
      record = await this.#prepare(context, call, page, deadline);
      answering = callNext(context);
    } finally {
      turn.leave();
    }
    return this.#recorded(answering, record);
  }

  /** A call that is meant for one revision of its cell. The page has none: what its cell is, is read in the last moment before. */
  async #check(context: MiddlewareContext<ToolCall>, callNext: CallHook, given: JsonObject): Promise<Answered<ToolResult>> {
    const { cancellation, message, target } = context;
    const { expected_rev: expected, ...args } = given;
    const plain = context.copy({ message: { ...message, arguments: args }, target });
    const call = parseChangeCall(plain.message);
    const turn = this.#turns.take();
    let answering: Promise<Answered<ToolResult>>;
    let record: (result: ToolResult) => void = () => {};
    try {
      await turn.before;
      const deadline = performance.now() + checkTimeoutMs;
      const limits = () => ({ timeoutMs: Math.max(1, deadline - performance.now()), cancellation });
      const page = await this.#awaitPage(cancellation);
      const offer = page && (await page.getOffer(limits()).catch((error: unknown) => this.#noOffer(error, context)));
      if (offer?.checking.has(message.name)) answering = callNext(context);
      else if (page === undefined || offer === undefined || call === undefined || !showsCells(offer, call)) answering = callNext(plain);
      else {
        await this.#untilAnswered(deadline - performance.now());
        const before = 'cellId' in call ? await page.cells.find(call.cellId, limits()) : undefined;
        if (before !== undefined && revOf(before) !== toPlainValue(expected)) return answer(toStaleResult(before, expected));
        if (doesFit(offer, call)) record = this.#recordOf(call, page, before);
        answering = callNext(plain);
      }
    } catch (error) {
      const code = error instanceof RemoteError ? 'bad_message' : error instanceof BridgeError ? error.code : 'cancelled';
      if (code === 'cancelled') throw error;
      const text = `Nothing was changed: what the cell is could not be read before (${messageOf(error)}). Call again.`;
      return answer(toErrorResult(new BridgeError(code, text, { cause: error })));
    } finally {
      turn.leave();
    }
    return this.#recorded(answering, record);
  }

  /** A page that cannot say what it has is left alone; one that has gone may come back and say so. */
  #noOffer(error: unknown, context: MiddlewareContext<ToolCall>): PageOffer {
    if (!(error instanceof RemoteError) && codeOf(error) !== 'timeout') throw error;
    this.#warn(context.message.name, context.callId, error);
    return emptyOffer;
  }

  #warn(tool: string, callId: string, error: unknown): void {
    const fields = { tool, callId, error: messageOf(error) };
    this.#options.logger?.warn('A change cannot be undone: its cell could not be read before.', fields);
  }

  /** Until it is answered, what the page shows may be a state in between. */
  async #recorded(answering: Promise<Answered<ToolResult>>, record: (result: ToolResult) => void): Promise<Answered<ToolResult>> {
    const recorded = answering.then(record, () => {});
    this.#unanswered.add(recorded);
    await recorded;
    this.#unanswered.delete(recorded);
    return answering;
  }

  /** Looks at the cell. Gives what is to be done with the answer; never rejects, since undo must not cost the agent its change. */
  async #prepare(
    { cancellation, callId }: MiddlewareContext<ToolCall>,
    call: ChangeCall,
    page: JournalledPage,
    deadline: number,
  ): Promise<(result: ToolResult) => void> {
    const limits = () => ({ timeoutMs: Math.max(1, deadline - performance.now()), cancellation });
    try {
      if (!doesFit(await page.getOffer(limits()), call)) return () => {};
      await this.#untilAnswered(deadline - performance.now());
      return this.#recordOf(call, page, 'cellId' in call ? await page.cells.find(call.cellId, limits()) : undefined);
    } catch (error) {
      if (codeOf(error) !== 'cancelled') this.#warn(call.tool, callId, error);
      return () => {};
    }
  }

  #recordOf(call: ChangeCall, page: JournalledPage, before: LocatedCell | undefined): (result: ToolResult) => void {
    return (result) => {
      const entry = toEntry({ call, before, result, connection: page.connection, languageOf: (id) => this.#journal.languageOf(id) });
      if (entry === undefined) return;
      this.#journal.add(entry);
      if ('cellIndex' in call) page.cells.noteAt(entry.cellId, call.cellIndex);
    };
  }

  /** Rejects with `timeout` if changes that went before are not answered in time: reading now would show a state in between. */
  async #untilAnswered(timeoutMs: number): Promise<void> {
    if (this.#unanswered.size === 0) return;
    if (await settlesWithin(Promise.all(this.#unanswered), Math.max(1, timeoutMs))) return;
    throw new BridgeError('timeout', 'An earlier change is not answered yet.');
  }

  async #undo(context: MiddlewareContext<ToolCall>, callNext: CallHook): Promise<Answered<ToolResult>> {
    try {
      const result = await this.#takeBack(context.cancellation, () => assertNoArguments(context.message.arguments));
      // Without a page, a layer further in explains how to get one; and a page with an undo of its own knows more than we do.
      return result === undefined ? callNext(context) : answer(result);
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code === 'cancelled') throw error;
      return answer(toErrorResult(error));
    }
  }

  /** Undefined: there is no page, or it has an undo of its own. `check` is called before anything is done. */
  async #takeBack(cancellation: Cancellation, check: () => void = () => {}): Promise<ToolResult | undefined> {
    const turn = this.#turns.take();
    try {
      await turn.before;
      const page = await this.#awaitPage(cancellation);
      const offer = await page?.getOffer({ timeoutMs, cancellation }).catch(() => emptyOffer);
      if (page === undefined || offer?.names.has(undoTool.name) === true) return undefined;
      check();
      await this.#untilAnswered(timeoutMs);
      const alike = offer?.alike ?? emptyOffer.alike;
      return await undoLast({ page, alike, journal: this.#journal, cancellation });
    } finally {
      turn.leave();
    }
  }

  /** The page that is there, or comes back in time. */
  async #awaitPage({ signal }: Cancellation): Promise<JournalledPage | undefined> {
    const expectedForMs = this.#currentPage() === undefined ? this.#client.expectedForMs() : 0;
    if (expectedForMs > 0) await this.#client.waitUntilConnected(expectedForMs, signal);
    return this.#currentPage();
  }
}

function isKnownNotToFit({ knownOffer }: JournalledPage, call: ChangeCall): boolean {
  return knownOffer !== undefined && !doesFit(knownOffer, call);
}

/** Whether the page shows what the change would replace or remove, and makes it, as Colab does. */
function showsCells({ alike }: PageOffer, { tool }: ChangeCall): boolean {
  return alike.has('get_cells') && alike.has(tool);
}

/** Whether the change can be journalled, and taken back. A page with an undo of its own is left alone. */
function doesFit({ alike, names }: PageOffer, { tool }: ChangeCall): boolean {
  return !names.has(undoTool.name) && ['get_cells', tool, ...reverseTools[tool]].every((name) => alike.has(name));
}

/** Lets calls on to the page in the order in which they came, though some of them look at a cell before. */
class Turns {
  /** Resolves when the holder of the last turn has left; undefined if there is no need to wait. */
  last: Promise<void> | undefined;

  /** Takes the next turn: wait for `before`, pass, and leave. Leaving twice is harmless. */
  take(): { before: Promise<void> | undefined; leave: () => void } {
    const before = this.last;
    let open = (): void => {};
    const left = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.last = left;
    const leave = (): void => {
      open();
      if (this.last === left) this.last = undefined;
    };
    return { before, leave };
  }
}
