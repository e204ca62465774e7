import type { ToolCall, ToolCallOptions } from '@notebridge/notebook/host';
import type { ParentCall } from '@notebridge/protocol/core/call-context';
import type { DelegatedRights } from '@notebridge/protocol/core/delegate-rights';
import type { Principal } from '@notebridge/protocol/core/principal';
import { isJsonObject } from '@notebridge/protocol/json';
import { Slots } from '@notebridge/protocol/util/slots';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { shownName, toPlainLine } from '../search/one-line.js';
import type { CodeModeLimits } from './code-mode-limits.js';

/** The tool calls of one execution, with those of the tests that it has had run. */
export interface CallCount {
  made: number;
}

/** Code that runs just now. */
export interface Running {
  /** On whose behalf. */
  caller: Principal;
  /** It is the test of a skill that is being saved. */
  isTest: boolean;
  count: CallCount;
}

/** All code that runs just now, by the `principalKey` of what its calls are made as. */
export type RunningCode = Map<string, Running>;

/** Calls a tool for code, through the hub's chain. Resolves to the answer as the bindings read it, failures included. */
export type CallTool = (call: ToolCall, options: CallToolOptions) => Promise<string>;

export interface CallToolOptions extends Omit<ToolCallOptions, 'asker'> {
  principal: Principal;
  /** The call of `execute_code` that it is made for. */
  parent: ParentCall;
}

export interface NestedCallsOptions {
  callTool: CallTool;
  rights: DelegatedRights;
  /** Rights for no call at all: the guard refuses what is tried with them, and records it. */
  noRights: () => DelegatedRights;
  limits: Pick<CodeModeLimits, 'calls' | 'parallelCalls'>;
  /** What counts for `limits.calls`. */
  count: CallCount;
  parent: ParentCall;
  /** Receives what the agent may be told while it waits, one line. */
  onProgress: (line: string) => void;
}

/** What became of one call, in words: `fs.read_file: ok`. */
export interface CallRecord {
  readonly tool: string;
  /** `under way` until it is answered. */
  outcome: string;
}

/** Records of one execution that are kept: the first and the last. */
const keptRecords = 40;

/** The tool calls of one execution: counted, bounded, made with its rights, and ended with it. */
export class NestedCalls {
  readonly #options: NestedCallsOptions;
  readonly #slots: Slots;
  readonly #ending = new AbortController();
  /** The first and the last of the calls, in the order in which they were made. */
  readonly records: CallRecord[] = [];
  readonly #recordedRefusals = new Set<string>();
  /** Calls that were made, those that were refused here left out. */
  made = 0;

  constructor(options: NestedCallsOptions) {
    this.#options = options;
    this.#slots = new Slots(options.limits.parallelCalls);
  }

  async call(call: ToolCall, { signal, onEvent }: ToolCallOptions): Promise<string> {
    const { limits, count, rights, parent, callTool } = this.#options;
    if (this.#ending.signal.aborted) {
      await this.#recordRefusal('ended', call, () => rights);
      return endedAnswer();
    }
    if (count.made >= limits.calls) {
      await this.#recordRefusal('limit', call, this.#options.noRights);
      return refusedAnswer('limit_reached', `This execution has made ${limits.calls} tool calls, which is all that one may make.`);
    }
    this.made++;
    count.made++;
    const record = this.#record(`${shownName(call.server)}.${shownName(call.tool)}`);
    const either = AbortSignal.any([signal, this.#ending.signal]);
    const answer = await this.#slots.run(async () => {
      if (either.aborted) return endedAnswer();
      const hear = (line: string): void => {
        this.#hear(record.tool, line);
        onEvent?.(line);
      };
      return callTool(call, { principal: rights.principal, parent, signal: either, onEvent: hear });
    });
    record.outcome = either.aborted ? 'cancelled; whether it had an effect is unknown' : outcomeOf(answer);
    this.#options.onProgress(`${this.made} tool calls; ${record.tool}: ${record.outcome}`);
    return answer;
  }

  /** From now on calls are refused; those under way are cancelled. Ending twice is harmless. */
  end(): void {
    this.#ending.abort();
    this.#options.rights.end();
  }

  /** The first of a kind stands in the audit, as the guard refuses it: a loop of thousands would push out what others have done. */
  async #recordRefusal(kind: string, call: ToolCall, rightsOf: () => DelegatedRights): Promise<void> {
    if (this.#recordedRefusals.has(kind)) return;
    this.#recordedRefusals.add(kind);
    const { callTool, parent } = this.#options;
    const { callId, caller } = parent;
    const rights = rightsOf();
    // Nobody is asked about it.
    const about = { principal: rights.principal, parent: { callId, caller }, signal: new AbortController().signal };
    await callTool(call, { ...about, onEvent: undefined });
    rights.end();
  }

  #record(tool: string): CallRecord {
    const record = { tool: tool.slice(0, 120), outcome: 'under way' };
    this.records.push(record);
    if (this.records.length > keptRecords) this.records.splice(keptRecords / 2, 1);
    return record;
  }

  #hear(tool: string, line: string): void {
    const event = tryJson(line);
    if (!isJsonObject(event) || event.event !== 'progress') return;
    const { progress, total, message } = event;
    const share = total === undefined ? String(progress) : `${String(progress)}/${String(total)}`;
    this.#options.onProgress(`${tool}: ${typeof message === 'string' ? `${toPlainLine(message)} ` : ''}(${share})`);
  }
}

/** The answer to a call that was not made, as code reads it. */
export function refusedAnswer(code: string, error: string): string {
  return JSON.stringify({ success: false, result: null, error, is_error: false, error_code: code });
}

export function endedAnswer(): string {
  return refusedAnswer('denied', 'The execution that this code belongs to has ended, and its right to call tools with it.');
}

/** Codes of a call that has reached no tool. */
export const refusals: ReadonlySet<string> = new Set([
  'not_approved',
  'denied',
  'bad_grant',
  'budget_exhausted',
  'limit_reached',
  'cluster_unavailable',
]);

/** Longer answers are read only at their beginning. */
const longest = 100_000;

function outcomeOf(answer: string): string {
  if (answer.startsWith('{"success":true')) return 'ok';
  const read = answer.length > longest ? undefined : tryJson(answer);
  if (!isJsonObject(read)) return 'failed';
  if (read.success === true) return 'ok';
  const why = typeof read.error === 'string' ? toPlainLine(read.error.split('\n', 1)[0] ?? '') : '';
  const code = typeof read.error_code === 'string' ? `${read.error_code}: ` : '';
  const told = [...`${code}${why}`];
  const cut = told.length > 160 ? `${told.slice(0, 160).join('')}…` : told.join('');
  // Nothing of it has reached a tool.
  return `${refusals.has(String(read.error_code)) ? 'not made' : 'failed'} (${cut})`;
}
