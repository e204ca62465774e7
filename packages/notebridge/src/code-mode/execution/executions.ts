import { createHash } from 'node:crypto';
import { BridgeError } from '../../core/errors.js';
import { quote } from '../../util/quote.js';
import { CodeExecution, type ExecutionOptions } from './code-execution.js';

/** How long, and how many, answers are kept for an agent that comes back. */
const keptMs = 10 * 60_000;
const mostKept = 100;
const mostKeptBytes = 64 * 1024 * 1024;
/** Ids that were used once, so that nothing runs twice; of each only a hash is kept. */
const mostIds = 20_000;
/** Of all agents, those that run and wait. */
const mostUnderWay = 256;

export interface NewExecution extends ExecutionOptions {
  /** The agent's own name for it: sent again it means the same execution. */
  executionId: string | undefined;
  /** All that the execution depends on. */
  what: string;
}

interface UsedId {
  what: string;
  execution: CodeExecution | undefined;
}

/** What runs and what has run, for those who come back for the answer. */
export class Executions {
  readonly #byRunId = new Map<string, CodeExecution>();
  readonly #sizes = new Map<CodeExecution, number>();
  readonly #ids = new Map<string, UsedId>();
  #keptBytes = 0;
  #underWay = 0;

  /**
   * Begins one, unless one of that id has begun before: then it is that one.
   *
   * @throws BridgeError `execution_conflict`, `answer_gone`, `limit_reached`
   */
  begin({ executionId, what, ...options }: NewExecution): { execution: CodeExecution; isFirst: boolean } {
    const key = executionId === undefined ? undefined : hashOf(`${options.principalKey}\n${executionId}`);
    const known = key === undefined ? undefined : this.#ids.get(key);
    if (known !== undefined)
      return { execution: known.what === hashOf(what) ? stillKept(known, executionId) : conflict(executionId), isFirst: false };
    if (this.#underWay >= mostUnderWay)
      throw new BridgeError('limit_reached', `${mostUnderWay} executions are under way already. Wait until one has ended.`);
    this.#underWay++;
    const execution = new CodeExecution(options);
    this.#byRunId.set(execution.runId, execution);
    const used = { what: hashOf(what), execution };
    if (key !== undefined) this.#remember(key, used);
    void execution.ended.then(() => this.#keep(execution, key));
    return { execution, isFirst: true };
  }

  /** @throws BridgeError `unknown_run` */
  find(runId: string, principalKey: string): CodeExecution {
    this.#forget();
    const found = this.#byRunId.get(runId);
    if (found?.principalKey === principalKey) return found;
    throw new BridgeError(
      'unknown_run',
      `There is no run ${quote(runId)} of yours: its answer is kept for ${keptMs / 60_000} minutes, and as long as the hub runs. Whether it has ended is not known here; look at what it was to do before you run the code again.`,
    );
  }

  /** Ends all. */
  async close(): Promise<void> {
    const all = [...this.#byRunId.values()];
    for (const execution of all) execution.stop();
    await Promise.all(all.map(({ ended }) => ended));
  }

  #keep(execution: CodeExecution, key: string | undefined): void {
    this.#underWay--;
    // Its code never ran: it may be asked for again.
    if (!execution.mayHaveRun && key !== undefined) this.#ids.delete(key);
    const size = JSON.stringify(execution.result ?? null).length;
    this.#sizes.set(execution, size);
    this.#keptBytes += size;
    this.#forget();
  }

  #forget(): void {
    const before = Date.now() - keptMs;
    for (const [execution, size] of this.#sizes) {
      const isOld = (execution.endedAt ?? 0) < before;
      if (!isOld && this.#sizes.size <= mostKept && this.#keptBytes <= mostKeptBytes) return;
      this.#sizes.delete(execution);
      this.#keptBytes -= size;
      this.#byRunId.delete(execution.runId);
      for (const used of this.#ids.values()) if (used.execution === execution) used.execution = undefined;
    }
  }

  #remember(key: string, used: UsedId): void {
    const [oldest] = this.#ids.keys();
    if (this.#ids.size >= mostIds && oldest !== undefined) this.#ids.delete(oldest);
    this.#ids.set(key, used);
  }
}

function stillKept({ execution }: UsedId, executionId: string | undefined): CodeExecution {
  if (execution !== undefined) return execution;
  throw new BridgeError(
    'answer_gone',
    `The execution ${quote(executionId)} has run, and its answer is not kept any more. It was not run again: look at what it was to do, and give other code another execution_id.`,
  );
}

function conflict(executionId: string | undefined): never {
  throw new BridgeError(
    'execution_conflict',
    `The execution_id ${quote(executionId)} stands for other code, or for the same code elsewhere. Nothing was run: give each execution an id of its own.`,
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
