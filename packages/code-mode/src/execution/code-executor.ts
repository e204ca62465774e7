import type { CallContext, ParentCall } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { type ToolResult, toTextResult, withFailedResults } from '@notebridge/protocol/core/mcp';
import { owner, type Principal, principalKey } from '@notebridge/protocol/core/principal';
import type { WhileLive } from '@notebridge/protocol/core/while-live';
import { type ExecutionOutcome, toCodeResult } from './answer.js';
import type { CodeExecution } from './code-execution.js';
import type { CodeKernel, CreateCodeKernel, ToolPackages } from './code-kernel.js';
import { type CodeRunnerOptions, runExecution } from './code-runner.js';
import { CodeSessions } from './code-sessions.js';
import { type CodeParams, parseExecute } from './execute-params.js';
import { Executions } from './executions.js';
import { KernelPool, type Taking } from './kernel-pool.js';
import type { KernelStartObserver } from './kernel-starts.js';
import { type CallCount, refusals } from './nested-calls.js';

interface NotebookRun {
  context: CallContext;
  code: string;
  /** An id, or true for the one that the agent has selected. */
  notebook: string | true;
  seconds: number;
  signal: AbortSignal;
  onProgress: (line: string) => void;
}

/** Runs code as a cell of a notebook, by its own tool and under its own rules, in the name of the caller. */
export type RunInNotebook = (run: NotebookRun) => Promise<ToolResult>;

export interface CodeExecutorOptions extends CodeRunnerOptions {
  createKernel: CreateCodeKernel;
  /** Counts those that it starts. Left out: nobody does. */
  kernelStarts?: KernelStartObserver | undefined;
  /** Several principals may come: none of them takes all Pythons. */
  isShared: boolean;
  /** An interpreter ends with the right of those who have it. */
  whileLive: WhileLive;
  /** The functions that code of this principal may import. */
  packagesOf: (principal: Principal) => ToolPackages;
  /** Left out: there is no notebook. */
  runInNotebook?: RunInNotebook | undefined;
}

/** On whose behalf the tests of a skill run, and in the course of which call. */
export interface TestRun {
  principal: Principal;
  /** Of the code that saves it: their calls are its calls. */
  count: CallCount;
  parent: ParentCall;
  /** Aborted: they are interrupted. */
  signal: AbortSignal;
}

const mostTestSeconds = 60;

/** The tool `execute_code`. */
export class CodeExecutor {
  readonly #options: CodeExecutorOptions;
  readonly #pool: KernelPool;
  readonly #sessions: CodeSessions;
  readonly #executions = new Executions();

  constructor(options: CodeExecutorOptions) {
    const { limits, createKernel: create, kernelStarts: starts, isShared } = options;
    this.#options = options;
    this.#pool = new KernelPool({ create, starts, most: limits.kernels, isShared, makeRoom: (holder) => this.#sessions.endIdlest(holder) });
    this.#sessions = new CodeSessions({ pool: this.#pool, idleMs: limits.idleMinutes * 60_000 });
  }

  /** An agent is there: its first code shall not wait. */
  prepare(): void {
    const ready = this.#pool.prepareFirst();
    // After it, so that the two do not keep each other.
    void ready.then(() => this.#options.typeChecker?.prepare());
  }

  /** Resolves also with what failed, for the agent to read. Rejects with `cancelled`. */
  call(args: unknown, context: CallContext): Promise<ToolResult> {
    return withFailedResults(readable, () => this.#call(args, context));
  }

  /**
   * Runs the tests of a skill in a Python that nobody has used, with the rights of `principal`, in the course of a call of its code.
   * Rejects with `limit_reached`, `kernel_failed`.
   */
  async runTest(code: string, { principal, count, parent, signal }: TestRun): Promise<ExecutionOutcome> {
    const kernel = await this.#take({ principal });
    try {
      const execution = { signal, parent, callId: parent.callId, progress: () => {}, calls: () => 0, mayHaveRun: false };
      const seconds = Math.min(mostTestSeconds, this.#options.limits.seconds);
      return await runExecution({ execution, kernel, code, seconds, testOf: count }, this.#options);
    } finally {
      await this.#pool.end(kernel);
    }
  }

  /** An agent's session has ended, and its variables with it. */
  async endSession(sessionId: string): Promise<void> {
    await this.#sessions.endSession(sessionId);
  }

  /** Ends what runs, and every interpreter. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#sessions.close();
    const ended = this.#executions.close();
    const checked = this.#options.typeChecker?.close();
    await this.#pool.close();
    await Promise.all([ended, checked]);
  }

  async #call(args: unknown, context: CallContext): Promise<ToolResult> {
    const params = parseExecute(args, this.#options.limits);
    const key = principalKey(context.caller.principal ?? owner);
    const { waitSeconds: seconds } = params;
    if (params.runId !== undefined) {
      const execution = this.#executions.find(params.runId, key);
      return (await execution.wait(context, { seconds, isFirst: false })) ?? running(execution);
    }
    const { code, session, isFresh, notebook, executionId } = params;
    const { execution, isFirst } = this.#executions.begin({
      principalKey: key,
      context,
      executionId,
      what: JSON.stringify([code, session, isFresh, notebook]),
      work: (begun) => this.#work(begun, params, context),
    });
    return (await execution.wait(context, { seconds, isFirst })) ?? running(execution);
  }

  #work(execution: CodeExecution, params: CodeParams, context: CallContext): Promise<ToolResult> {
    const { code, notebook, timeoutSeconds: seconds } = params;
    if (notebook !== undefined) return this.#runInNotebook(execution, { context, code, notebook, seconds });
    return params.isFresh ? this.#runFresh(execution, params, context) : this.#runInSession(execution, params, context);
  }

  async #runInNotebook(execution: CodeExecution, request: Omit<NotebookRun, 'signal' | 'onProgress'>): Promise<ToolResult> {
    const { runInNotebook } = this.#options;
    if (runInNotebook === undefined)
      throw new BridgeError(
        'invalid_arguments',
        'There is no notebook here. Leave "notebook" out: then the code runs in a Python of its own.',
      );
    execution.mayHaveRun = true;
    try {
      return await runInNotebook({ ...request, signal: execution.signal, onProgress: (line) => execution.progress(line) });
    } catch (error) {
      const code = codeOf(error) ?? '';
      if (code === 'invalid_arguments' || refusals.has(code)) execution.mayHaveRun = false;
      throw error;
    }
  }

  async #runFresh(execution: CodeExecution, params: CodeParams, context: CallContext): Promise<ToolResult> {
    const { code, timeoutSeconds: seconds } = params;
    const kernel = await this.#take(context.caller);
    try {
      return await toCodeResult(await runExecution({ execution, kernel, code, seconds }, this.#options));
    } finally {
      await this.#pool.end(kernel);
    }
  }

  async #runInSession(execution: CodeExecution, params: CodeParams, context: CallContext): Promise<ToolResult> {
    const session = this.#sessions.find(params.session, context);
    const isNew = session.kernel === undefined && session.waiting === 0;
    // An agent that has a session of its own need not know what it is called.
    const handle = params.session !== undefined || session.agentSession === undefined ? session.handle : undefined;
    execution.session = handle;
    return this.#sessions.run(session, async () => {
      const notes = handle !== undefined && isNew ? [`session: ${handle} (send it back as "session" to find the variables again)`] : [];
      const { code, timeoutSeconds: seconds } = params;
      if (session.kernel?.isDead === true) await this.#sessions.drop(session);
      session.kernel ??= await this.#take(context.caller, () => session.waiting === 0);
      if (session.hasLost) notes.push('The variables of before are gone: this is a new Python.');
      session.hasLost = false;
      const { kernel } = session;
      const outcome = await runExecution({ execution, kernel, code, seconds }, this.#options);
      if (kernel.isDead) {
        await this.#sessions.drop(session);
        // The answer says so already, if it has failed.
        if (outcome.status !== 'ok') session.hasLost = false;
      }
      return toCodeResult({ ...outcome, notes: [...notes, ...outcome.notes] }, handle);
    });
  }

  /** `isIdle`: see `Taking`. */
  async #take({ principal = owner }: { principal?: Principal | undefined }, isIdle?: Taking['isIdle']): Promise<CodeKernel> {
    const untilWithdrawn: Taking['untilWithdrawn'] = (end) => this.#options.whileLive(principal, end);
    const kernel = await this.#pool.take({ holder: principalKey(principal), isIdle, untilWithdrawn });
    kernel.giveTo({ principal, packages: this.#options.packagesOf(principal) });
    return kernel;
  }
}

/** What an agent reads in place of a result; everything else is an error of the protocol. */
const readable: ReadonlySet<string> = new Set([
  'invalid_arguments',
  'session_gone',
  'unknown_run',
  'answer_gone',
  'execution_conflict',
  'kernel_failed',
  'limit_reached',
  'denied',
  'bad_grant',
  'cluster_unavailable',
]);

function running({ id: runId, session, calls }: CodeExecution): ToolResult {
  const text = `It goes on (${calls()} tool calls so far). Call execute_code with {"run_id": "${runId}"} to wait on; do not run the code again.`;
  const structuredContent = { status: 'running', run_id: runId, ...(session === undefined ? {} : { session }), calls: calls() };
  return { ...toTextResult(text), structuredContent };
}
