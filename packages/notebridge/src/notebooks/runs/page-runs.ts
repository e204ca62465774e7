import { randomBytes } from 'node:crypto';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Tool, ToolResult } from '@notebridge/protocol/core/mcp';
import type { ParamHeader } from '@notebridge/protocol/core/param-headers';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { CellRuns, parseRunName } from '@notebridge/protocol/runs/cell-runs';
import { parseCursor, seenSoFar } from '@notebridge/protocol/runs/output-cursor';
import { defaultWaitSeconds, describeRun, maxListed, runningText, wrongCursorText } from '@notebridge/protocol/runs/run-words';
import type { Listeners } from '@notebridge/protocol/util/listeners';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { nameOfAgent } from '../call-notebook-tool.js';
import { PageCells } from './page-cells.js';
import { PageRun, type RunEnd, statusOf, toRunEnd, toRunFault } from './page-run.js';
import type { NotedRun, RunLedger } from './run-ledger.js';
import * as tools from './run-tools.js';

export interface PageRunsOptions {
  /** Emits when a page comes or goes: the next one may offer other tools. */
  connectionChanged?: Listeners<boolean> | undefined;
  /** Where runs are kept for those who come back for one to a later process. Default: nowhere. */
  ledger?: RunLedger | undefined;
}

/** How often a cell is looked at while somebody waits for its output. Milliseconds. */
const pollMs = 500;
/** How long a page may take to show that a cell was stopped, and how often it is looked at meanwhile. Milliseconds. */
const [stopMs, stopPollMs] = [5000, 250];

/**
 * Runs that outlive their calls, for a page that has `run_code_cell` and no tools about runs of its own: a provider around the page's.
 * The page's call goes on when its caller does not wait any longer, or is gone; every other message passes unchanged.
 */
export class PageRuns implements Provider {
  readonly name: string;
  readonly #page: Provider;
  readonly #cells: PageCells;
  readonly #ledger: RunLedger | undefined;
  readonly #runs = new CellRuns<PageRun>({ mark: randomBytes(3).toString('hex'), withoutOutputs: (run) => run.withoutOutputs() });
  /** Whether the page that is there leaves runs to us; undefined while that is not known. */
  #isOurs: boolean | undefined;
  #lastId = 0;

  constructor(page: Provider, { connectionChanged, ledger }: PageRunsOptions) {
    this.name = page.name;
    this.#page = page;
    this.#cells = new PageCells(page);
    this.#ledger = ledger;
    const forget = (): void => {
      this.#isOurs = undefined;
    };
    page.subscribe(({ method }) => {
      if (method === 'notifications/tools/list_changed') forget();
    });
    connectionChanged?.add(forget);
  }

  get instructions(): string | undefined {
    return this.#page.instructions;
  }

  /** True while a run goes on, also one that no call waits for. */
  get isRunning(): boolean {
    return this.#runs.all().some(({ hasEnded }) => !hasEnded);
  }

  paramHeadersOf(tool: unknown): readonly ParamHeader[] {
    return this.#page.paramHeadersOf?.(tool) ?? [];
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#page.notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#page.subscribe(listener);
  }

  /** Not async: most calls are none of ours, and pay nothing here. */
  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (method === 'tools/list') return this.#list(params, context);
    if (method !== 'tools/call') return this.#page.request(method, params, context);
    switch (params.name) {
      case tools.runToolName:
        return this.#runInOrder(params, context);
      case 'get_run':
        return this.#ifOurs(params, context, () => this.#getRun(params.arguments, context));
      case 'list_runs':
        return this.#ifOurs(params, context, async () => this.#listRuns(params.arguments));
      case 'interrupt_run':
        return this.#ifOurs(params, context, () => this.#interrupt(params.arguments, context));
      default:
        return this.#page.request(method, params, context);
    }
  }

  /** Who holds the page ends: its cells are asked to stop, since nobody could follow them any more. Closing twice is harmless. */
  async close(): Promise<void> {
    for (const run of this.#runs.all()) if (!run.hasEnded) run.cancellation.cancel('Notebridge is closing');
    await this.#ledger?.written();
  }

  async #list(params: JsonObject, context: CallContext): Promise<JsonObject> {
    const result = await this.#page.request('tools/list', params, context);
    const listed = Array.isArray(result.tools) ? (result.tools as Tool[]) : [];
    // A list of several pages is of no page that we know: what it offers is not known before its end.
    if (params.cursor !== undefined || result.nextCursor !== undefined) return result;
    this.#isOurs = tools.lacksRunTools(listed);
    if (!this.#isOurs) return result;
    const changed = listed.map((tool) => (tool.name === tools.runToolName ? tools.withWaitSeconds(tool) : tool));
    return { ...result, tools: [...changed, ...tools.pageRunTools] };
  }

  /** What an agent sends at once arrives in that order: the call leaves before the page is asked what it offers, wherever it can. */
  #runInOrder(params: JsonObject, context: CallContext): Promise<JsonObject> {
    const isSure = this.#isOurs !== undefined || !(isJsonObject(params.arguments) && 'wait_seconds' in params.arguments);
    if (isSure && this.#isOurs !== false) return tools.withRunErrors(() => this.#run(params, context));
    return this.#ifOurs(params, context, () => this.#run(params, context));
  }

  async #ifOurs(params: JsonObject, context: CallContext, answer: () => Promise<ToolResult>): Promise<JsonObject> {
    if (!(await this.#isForUs(context))) return this.#page.request('tools/call', params, context);
    return tools.withRunErrors(answer);
  }

  async #isForUs(context: CallContext): Promise<boolean> {
    if (this.#isOurs === undefined) await this.#list({}, context);
    return this.#isOurs === true;
  }

  async #run(params: JsonObject, context: CallContext): Promise<ToolResult> {
    const { message, waitMs } = toPageCall(params);
    const cellId = isJsonObject(params.arguments) ? params.arguments.cellId : undefined;
    // What the page refuses anyway it refuses in its own words.
    if (typeof cellId !== 'string') return this.#page.request('tools/call', message, context);
    const run = new PageRun(++this.#lastId, { cellId, by: nameOfAgent(context) });
    this.#runs.set(run);
    const leave = new AbortController();
    const stop = context.cancellation.onCancel((reason) => {
      if (context.cancellation.callerIsGone) leave.abort();
      else void this.#stop(run, reason, context);
    });
    const answering = this.#start(run, message, context);
    const isAnswered = await settlesWithin(answering, waitMs, leave.signal);
    if (isAnswered || !(await this.#isForUs(context))) {
      if (this.#isOurs === false) this.#runs.remove(run);
      return answering.finally(stop);
    }
    run.isKnown = true;
    stop();
    this.#note();
    await Promise.all([this.#look(run, context), this.#ledger?.written()]);
    return tools.toRunResult({ ...tools.toRunAnswer(this.#shown(run)), next: runningText });
  }

  /** The page's own answer, also after the caller has left. */
  #start(run: PageRun, message: JsonObject, context: CallContext): Promise<ToolResult> {
    const { callId, caller, target } = context;
    const { cancellation } = run;
    const notify = (_method: string, progress?: JsonObject): void => {
      if (!run.isKnown && progress !== undefined) context.forwardProgress(progress);
    };
    const inner = new RequestContext({ type: 'request', method: 'tools/call', message, callId, caller, target, cancellation, notify });
    const answering: Promise<ToolResult> = this.#page.request('tools/call', message, inner);
    answering.then(
      (result) => this.#finish(run, () => toRunEnd(result)),
      (error: unknown) => {
        // One that is being stopped ends when the cell shows it.
        if (codeOf(error) !== 'cancelled') this.#finish(run, () => toRunFault(error));
      },
    );
    return answering;
  }

  #finish(run: PageRun, read: () => RunEnd): void {
    if (!run.finishWith(read)) return;
    if (run.isKnown) this.#note();
    this.#runs.noteEnd(run);
  }

  /** For a later process. */
  #note(): void {
    const known = this.#runs
      .all()
      .filter(({ isKnown }) => isKnown)
      .slice(-maxListed);
    const toNote = ({ id, cellId, by, startedAt, durationMs, end }: PageRun): NotedRun =>
      end === undefined || durationMs === undefined
        ? { id, cellId, by, startedAt }
        : { id, cellId, by, startedAt, end: { status: end.status, durationMs } };
    this.#ledger?.note(this.#runs.mark, known.map(toNote));
  }

  /** Of an earlier process, whose page may still run the cell: what was noted, and what the cell shows now. */
  async #recall(runId: string, context: CallContext): Promise<ToolResult | undefined> {
    const { mark = '', id } = parseRunName(runId);
    const noted = this.#runs.isEarlier(runId) ? this.#ledger?.find(mark, id) : undefined;
    if (noted === undefined) return undefined;
    const { cellId, end } = noted;
    const outputs = await this.#cells.outputsOf(cellId, context);
    const { status = 'unknown', durationMs } = end ?? {};
    return tools.toRunResult({
      ...describeRun({ runId, cellId, status, by: { kind: 'agent', name: noted.by }, startedAt: undefined, durationMs }),
      ...(end === undefined ? { message: unfollowedText, next: tools.lookText(cellId) } : {}),
      outputs: (outputs ?? []).map(tools.withLines),
    });
  }

  async #getRun(args: unknown, context: CallContext): Promise<ToolResult> {
    const { runId, cursor: given, waitMs, isForOutput } = tools.parseGetRun(args);
    const recalled = await this.#recall(runId, context);
    if (recalled !== undefined) return recalled;
    const run = this.#find(runId);
    const cursor = given === undefined ? undefined : parseCursor(given);
    if (given !== undefined && cursor === undefined) throw tools.badArguments('get_run', wrongCursorText);
    const deadline = performance.now() + waitMs;
    const isSeen = seenSoFar(given, run.outputs ?? []);
    while (!run.hasEnded) {
      const leftMs = deadline - performance.now();
      if (isForOutput) {
        await this.#look(run, context);
        if (!this.#shown(run).isQueued && !isSeen(run.outputs ?? [], run.clears)) break;
      }
      if (leftMs <= 0 || context.cancellation.reason !== undefined) break;
      await settlesWithin(run.ended, isForOutput ? Math.min(leftMs, pollMs) : leftMs, context.signal);
    }
    if (context.cancellation.reason !== undefined && !context.cancellation.callerIsGone)
      throw new BridgeError('cancelled', `"get_run" was cancelled: ${context.cancellation.reason}`);
    if (!isForOutput) await this.#look(run, context);
    return tools.toRunResult(tools.toRunAnswer(this.#shown(run), cursor));
  }

  #listRuns(args: unknown): ToolResult {
    tools.assertEmptyArguments('list_runs', args);
    const newestFirst = this.#runs.all().reverse().slice(0, maxListed);
    return tools.toRunResult({ runs: newestFirst.map((run) => tools.toPageRunView(this.#shown(run))) });
  }

  async #interrupt(args: unknown, context: CallContext): Promise<ToolResult> {
    const run = this.#find(tools.parseRunId('interrupt_run', args));
    await this.#stop(run, 'interrupt_run', context);
    return tools.toRunResult(tools.toPageRunView(this.#shown(run)));
  }

  /** A page can be told that nobody wants the answer any more, and no more than that: whether it stopped, its cell shows. */
  async #stop(run: PageRun, reason: string, context: CallContext): Promise<void> {
    if (run.hasEnded) return;
    // What its cell shows until then is of an earlier run, and of this one there will be nothing to see.
    const { isQueued } = this.#shown(run);
    run.cancellation.cancel(reason);
    if (isQueued) return this.#finish(run, () => ({ status: 'unknown', outputs: [], why: notDroppedText }));
    const deadline = performance.now() + stopMs;
    while (!run.hasEnded && performance.now() < deadline) {
      const outputs = await this.#cells.outputsOf(run.cellId, context);
      if (outputs !== undefined && statusOf(outputs) === 'interrupted')
        return this.#finish(run, () => ({ status: 'interrupted', outputs }));
      await settlesWithin(run.ended, stopPollMs);
    }
    const { outputs } = run;
    this.#finish(run, () => ({ status: 'unknown', outputs, why: notStoppedText }));
  }

  /** Takes what the cell shows, while the run goes on. */
  async #look(run: PageRun, context: CallContext): Promise<void> {
    if (run.hasEnded || this.#shown(run).isQueued) return;
    const outputs = await this.#cells.outputsOf(run.cellId, context);
    if (outputs !== undefined && !run.hasEnded) run.show(outputs);
  }

  /** A page runs one cell after the other, in the order in which it was asked. */
  #shown(run: PageRun): tools.ShownRun {
    const isQueued = !run.hasEnded && this.#runs.all().some((other) => other.id < run.id && !other.hasEnded);
    return { run, runId: this.#runs.nameOf(run.id), isQueued };
  }

  #find(runId: string): PageRun {
    const run = this.#runs.findNamed(runId);
    if (run !== undefined) return run;
    throw new tools.RunToolError('unknown_run', this.#runs.explainUnknown(runId));
  }
}

const unfollowedText =
  'The process that followed it has ended. The page goes on without it, so the cell may still run: "outputs" is what the cell shows now.';

const notStoppedText =
  'The page was asked to stop the cell, and its cell does not show that it stopped. A page cannot be interrupted in any other way from here: ask the person to press the stop button of the cell (Runtime > Interrupt execution in Colab).';

const notDroppedText = 'It waited for its turn, and the page was asked to drop it. Whether it did, a page does not say.';

/** The call as the page knows it, and how long its caller waits. Throws `RunToolError`. */
function toPageCall(params: JsonObject): { message: JsonObject; waitMs: number } {
  const { arguments: args } = params;
  if (!isJsonObject(args) || !('wait_seconds' in args)) return { message: params, waitMs: 1000 * defaultWaitSeconds };
  const { wait_seconds: seconds, ...others } = args;
  return {
    message: { ...params, arguments: others },
    waitMs: 1000 * tools.parseRunWait(tools.runToolName, seconds, defaultWaitSeconds),
  };
}
