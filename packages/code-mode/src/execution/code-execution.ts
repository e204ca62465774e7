import { randomBytes } from 'node:crypto';
import type { CallContext, ParentCall } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { type ToolResult, toFailedResult } from '@notebridge/protocol/core/mcp';
import type { Asker } from '@notebridge/protocol/core/questions';
import { LastingOperation } from '@notebridge/protocol/runs/lasting-operation';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';

/** The work of an execution. Resolves to its answer; `signal` ends it early. */
export type Work = (execution: CodeExecution) => Promise<ToolResult>;

export interface ExecutionOptions {
  /** On whose behalf: nobody else asks for it. */
  principalKey: string;
  /** The call that began it. */
  context: CallContext;
  work: Work;
}

interface Teller {
  tell(line: string): void;
  end(): void;
}

/** How often a call that has waited long enough is looked at again, as long as a question is parked. Milliseconds. */
const parkedMs = 500;
/** How often an agent that asked for progress is told something, at least. Milliseconds. */
const heartbeatMs = 10_000;
/** And at most. */
const progressMs = 250;

/** One execution. Its result is the answer that `wait` gives to the last call as well; undefined of one that was never run. */
export class CodeExecution extends LastingOperation<ToolResult | undefined> {
  /** As agents call it. */
  readonly id = randomBytes(9).toString('base64url');
  readonly ownerKey: string;
  /** The call that began it, for the calls of its code. */
  readonly parent: ParentCall;
  readonly #abort = new AbortController();
  /** Rejects with what the work rejects with, unless its code may have run. */
  readonly #answer: Promise<ToolResult>;
  readonly #waiting = new Map<CallContext, Teller | undefined>();
  #outlives = false;
  /** Questions for which an agent of the modern era has been sent away, to come back with an answer. */
  #parked = 0;
  /** How many calls of tools it has made. */
  calls: () => number = () => 0;
  /** Its code is with a Python, or was: what failed since then is its answer, and it is not run again. */
  mayHaveRun = false;
  /** Under which the agent finds its variables again. */
  session: string | undefined;
  /** Of the answer, as JSON. */
  size = 0;

  constructor({ principalKey, context, work }: ExecutionOptions) {
    super();
    this.ownerKey = principalKey;
    this.parent = this.#toParent(context);
    const release = context.cancellation.outlive(() => this.stop());
    this.#answer = work(this).catch((error: unknown) => {
      if (this.mayHaveRun && error instanceof BridgeError) return toUnsure(error);
      throw error;
    });
    void this.#end(release);
  }

  get callId(): string {
    return this.parent.callId;
  }

  /** Aborted: its code is interrupted, and its calls are cancelled. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  stop(): void {
    this.#abort.abort();
  }

  /** Tells the agents that wait. */
  progress(line: string): void {
    for (const teller of this.#waiting.values()) teller?.tell(line);
  }

  /**
   * Waits for the answer; undefined if it is not there by then, and the agent is to come back for it. Rejects with `cancelled`, and with what
   * the work rejects with. The call of an agent that goes away ends the execution, unless it was told how to come back, or another call waits.
   */
  async wait(context: CallContext, { seconds, isFirst }: { seconds: number; isFirst: boolean }): Promise<ToolResult | undefined> {
    const teller = context.wantsProgress ? createTeller(context) : undefined;
    this.#waiting.set(context, teller);
    const isCancelled = await this.#isCancelledWithin(seconds, context);
    this.#waiting.delete(context);
    teller?.end();
    if (isCancelled) {
      // Over HTTP an agent of the modern era cancels by hanging up, and hangs up when it goes away: of a run that may outlive it, that is no wish.
      const { cancellation, caller } = context;
      const isAsked = !cancellation.callerIsGone && (isFirst || caller.door !== 'http' || caller.era !== 'modern');
      if (this.#waiting.size === 0 && (isAsked || !this.#outlives)) this.stop();
      throw new BridgeError('cancelled', `The execution was cancelled: ${context.cancellation.reason}`);
    }
    if (this.hasEnded) return this.#answer;
    this.#outlives = true;
    return undefined;
  }

  async #end(release: () => void): Promise<void> {
    const result = await this.#answer.catch(() => undefined);
    this.size = JSON.stringify(result ?? null).length;
    release();
    this.finish(result);
  }

  /** What its code asks goes to the agent by whichever of its calls waits just then. */
  #toParent({ callId, caller, clientCapabilities, ask }: CallContext): ParentCall {
    if (clientCapabilities === undefined || ask === undefined) return { callId, caller };
    const askWaiting: NonNullable<Asker['ask']> = async (_during, question, options) => {
      const waiting = [...this.#waiting.keys()].find((context) => context.ask !== undefined);
      if (waiting?.ask !== undefined) {
        const asked = waiting.ask(question, options);
        if (waiting.caller.era === 'legacy') return asked;
        this.#parked++;
        return asked.finally(() => this.#parked--);
      }
      throw new BridgeError(
        'unanswered_question',
        'Nobody waits for this execution just now who could be asked. Wait for it with its run_id.',
      );
    };
    return { callId, caller, asker: { clientCapabilities, ask: askWaiting } };
  }

  /** Waits for the end, so long and as long as a question is parked: no request is open that could be answered, and its end would end the question. */
  async #isCancelledWithin(seconds: number, { cancellation, signal }: CallContext): Promise<boolean> {
    let waitMs = seconds * 1000;
    while (!(await settlesWithin(this.ended, waitMs, signal))) {
      if (cancellation.reason !== undefined) return true;
      if (this.#parked === 0) return false;
      waitMs = parkedMs;
    }
    return false;
  }
}

function toUnsure({ code, message }: BridgeError): ToolResult {
  return toFailedResult(code, `${message} Whether the code has run, or a part of it, is not known; it was not run again.`);
}

/** Progress of one waiting call: not more often than an agent can use, and now and then if nothing happens. */
function createTeller(context: CallContext): Teller {
  const startedAt = Date.now();
  let [count, lastAt] = [0, 0];
  const send = (message: string): void => {
    lastAt = Date.now();
    context.forwardProgress({ progress: ++count, message });
  };
  const heartbeat = setInterval(() => {
    if (Date.now() - lastAt >= heartbeatMs / 2) send(`running for ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }, heartbeatMs);
  return {
    tell: (line) => {
      if (Date.now() - lastAt >= progressMs) send(line.slice(0, 300));
    },
    end: () => clearInterval(heartbeat),
  };
}
