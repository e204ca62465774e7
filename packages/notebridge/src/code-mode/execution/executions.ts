import { BridgeError } from '../../core/errors.js';
import { firstOfGreediest } from '../../util/first-of-greediest.js';
import { quote } from '../../util/quote.js';
import { CodeExecution, type ExecutionOptions } from './code-execution.js';
import { hashOf, type UsedId, UsedIds } from './used-ids.js';

/** How long, and how many, answers are kept for an agent that comes back. Beyond that the oldest of who has most goes first. */
const keptMs = 10 * 60_000;
const mostKept = 100;
const mostKeptBytes = 64 * 1024 * 1024;
/** Those that run and wait, of all agents. */
const mostUnderWay = 256;
/** And of one: the others get in, whatever it does. */
const mostOfOne = 192;

export interface NewExecution extends ExecutionOptions {
  /** The agent's own name for it: sent again it means the same execution. */
  executionId: string | undefined;
  /** All that the execution depends on. */
  what: string;
}

/** What runs and what has run, for those who come back for the answer. */
export class Executions {
  readonly #byRunId = new Map<string, CodeExecution>();
  readonly #sizes = new Map<CodeExecution, number>();
  readonly #ids = new UsedIds();
  #keptBytes = 0;
  readonly #underWay = new Map<string, number>();

  /**
   * Begins one, unless one of that id has begun before: then it is that one.
   *
   * @throws BridgeError `execution_conflict`, `answer_gone`, `limit_reached`
   */
  begin({ executionId, what, ...options }: NewExecution): { execution: CodeExecution; isFirst: boolean } {
    const { principalKey } = options;
    const known = executionId === undefined ? undefined : this.#ids.get(principalKey, executionId);
    if (known !== undefined)
      return { execution: known.what === hashOf(what) ? stillKept(known, executionId) : conflict(executionId), isFirst: false };
    this.#assertRoom(principalKey);
    this.#count(principalKey, 1);
    const execution = new CodeExecution(options);
    this.#byRunId.set(execution.runId, execution);
    if (executionId !== undefined) this.#ids.add(principalKey, executionId, { what: hashOf(what), execution });
    void execution.ended.then(() => this.#keep(execution, executionId));
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

  #keep(execution: CodeExecution, executionId: string | undefined): void {
    this.#count(execution.principalKey, -1);
    if (!execution.mayHaveRun && executionId !== undefined) this.#ids.delete(execution.principalKey, executionId);
    const size = JSON.stringify(execution.result ?? null).length;
    this.#sizes.set(execution, size);
    this.#keptBytes += size;
    this.#forget();
  }

  #forget(): void {
    const before = Date.now() - keptMs;
    for (const execution of [...this.#sizes.keys()]) if ((execution.endedAt ?? 0) < before) this.#drop(execution);
    const of = ({ principalKey }: CodeExecution): string => principalKey;
    const weight = (execution: CodeExecution): number => this.#sizes.get(execution) ?? 0;
    while (this.#sizes.size > mostKept || this.#keptBytes > mostKeptBytes) {
      const isTooMany = this.#sizes.size > mostKept;
      const oldest = firstOfGreediest(this.#sizes.keys(), isTooMany ? { of } : { of, weight });
      if (oldest === undefined) return;
      this.#drop(oldest);
    }
  }

  #drop(execution: CodeExecution): void {
    this.#keptBytes -= this.#sizes.get(execution) ?? 0;
    this.#sizes.delete(execution);
    this.#byRunId.delete(execution.runId);
    this.#ids.forgetAnswer(execution);
  }

  #assertRoom(principalKey: string): void {
    const ofOne = this.#underWay.get(principalKey) ?? 0;
    const ofAll = [...this.#underWay.values()].reduce((sum, count) => sum + count, 0);
    if (ofOne < mostOfOne && ofAll < mostUnderWay) return;
    const many = ofOne >= mostOfOne ? `${mostOfOne} executions of yours` : `${mostUnderWay} executions`;
    throw new BridgeError('limit_reached', `${many} are under way already. Wait until one has ended.`);
  }

  #count(principalKey: string, change: 1 | -1): void {
    const count = (this.#underWay.get(principalKey) ?? 0) + change;
    if (count === 0) this.#underWay.delete(principalKey);
    else this.#underWay.set(principalKey, count);
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
