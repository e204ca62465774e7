import { createHash } from 'node:crypto';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { OwnedOperations } from '@notebridge/protocol/runs/lasting-operation';
import { firstOfGreediest } from '@notebridge/protocol/util/first-of-greediest';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { quote } from '@notebridge/protocol/util/quote';
import { CodeExecution, type ExecutionOptions } from './code-execution.js';

/** How long, and how many, answers are kept for an agent that comes back. Beyond that the oldest of who has most goes first. */
const keptMs = 10 * 60_000;
const mostKept = 100;
const mostKeptBytes = 64 * 1024 * 1024;
/** Those that run and wait, of all agents. */
const mostUnderWay = 256;
/** And of one: the others get in, whatever it does. */
const mostOfOne = 192;
/** Ids that are remembered of one principal: what another one does pushes none of them out. */
const mostIds = 5000;
/** Those that have not come for longest are forgotten. */
const mostPrincipals = 1000;

export interface NewExecution extends ExecutionOptions {
  /** The agent's own name for it: sent again it means the same execution. */
  executionId: string | undefined;
  /** All that the execution depends on. */
  what: string;
}

/** What an agent's own name for an execution stands for. */
interface UsedId {
  /** A hash of all that the execution depends on. */
  what: string;
  runId: string;
}

/** What runs and what has run, for those who come back for the answer. */
export class Executions {
  /** Under way, or with an answer that is kept; these in the order of their ends. */
  readonly #all = new OwnedOperations<CodeExecution>();
  /** By principal, then by a hash of the id. They outlive the answers, so that nothing runs twice. */
  readonly #ids = new Map<string, Map<string, UsedId>>();

  /**
   * Begins one, unless one of that id has begun before: then it is that one.
   *
   * @throws BridgeError `execution_conflict`, `answer_gone`, `limit_reached`
   */
  begin({ executionId, what, ...options }: NewExecution): { execution: CodeExecution; isFirst: boolean } {
    const { principalKey } = options;
    const id = executionId === undefined ? undefined : hashOf(executionId);
    const known = id === undefined ? undefined : this.#ids.get(principalKey)?.get(id);
    if (known !== undefined) return { execution: this.#executionOf(known, hashOf(what), executionId), isFirst: false };
    this.#assertRoom(principalKey);
    const execution = new CodeExecution(options);
    this.#all.set(execution.id, execution);
    if (id !== undefined) this.#remember(principalKey, id, { what: hashOf(what), runId: execution.id });
    void execution.ended.then(() => {
      // Its code never ran: it may be asked for again.
      if (!execution.mayHaveRun && id !== undefined) this.#ids.get(principalKey)?.delete(id);
      this.#all.delete(execution.id);
      this.#all.set(execution.id, execution);
      this.#forget();
    });
    return { execution, isFirst: true };
  }

  /** @throws BridgeError `unknown_run` */
  find(runId: string, principalKey: string): CodeExecution {
    this.#forget();
    const found = this.#all.find(runId, principalKey);
    if (found !== undefined) return found;
    throw new BridgeError(
      'unknown_run',
      `There is no run ${quote(runId)} of yours: its answer is kept for ${keptMs / 60_000} minutes, and as long as the hub runs. Whether it has ended is not known here; look at what it was to do before you run the code again.`,
    );
  }

  /** Ends all. */
  async close(): Promise<void> {
    const all = [...this.#all.values()];
    for (const execution of all) execution.stop();
    await Promise.all(all.map(({ ended }) => ended));
  }

  #executionOf(used: UsedId, what: string, executionId: string | undefined): CodeExecution {
    if (used.what !== what)
      throw new BridgeError(
        'execution_conflict',
        `The execution_id ${quote(executionId)} stands for other code, or for the same code elsewhere. Nothing was run: give each execution an id of its own.`,
      );
    const execution = this.#all.get(used.runId);
    if (execution !== undefined) return execution;
    throw new BridgeError(
      'answer_gone',
      `The execution ${quote(executionId)} has run, and its answer is not kept any more. It was not run again: look at what it was to do, and give other code another execution_id.`,
    );
  }

  #remember(principalKey: string, id: string, used: UsedId): void {
    const own = this.#ids.get(principalKey) ?? new Map<string, UsedId>();
    keepLatest(this.#ids, [principalKey, own], mostPrincipals);
    if (own.size >= mostIds) forgetFirst(own, ({ runId }) => this.#all.get(runId)?.hasEnded !== false);
    own.set(id, used);
  }

  #forget(): void {
    const kept = new Set([...this.#all.values()].filter(({ hasEnded }) => hasEnded));
    let bytes = 0;
    for (const { size } of kept) bytes += size;
    const drop = (execution: CodeExecution): void => {
      kept.delete(execution);
      this.#all.delete(execution.id);
      bytes -= execution.size;
    };
    for (const execution of kept) if ((execution.endedAt ?? 0) < Date.now() - keptMs) drop(execution);
    const of = ({ ownerKey }: CodeExecution): string => ownerKey;
    const weight = ({ size }: CodeExecution): number => size;
    while (kept.size > mostKept || bytes > mostKeptBytes) {
      const oldest = firstOfGreediest(kept, kept.size > mostKept ? { of } : { of, weight });
      if (oldest === undefined) return;
      drop(oldest);
    }
  }

  #assertRoom(principalKey: string): void {
    const countUnderWay = (executions: readonly CodeExecution[]): number => executions.filter(({ hasEnded }) => !hasEnded).length;
    const ofOne = countUnderWay(this.#all.ofOwner(principalKey));
    if (ofOne < mostOfOne && countUnderWay([...this.#all.values()]) < mostUnderWay) return;
    const many = ofOne >= mostOfOne ? `${mostOfOne} executions of yours` : `${mostUnderWay} executions`;
    throw new BridgeError('limit_reached', `${many} are under way already. Wait until one has ended.`);
  }
}

/** What still runs keeps its id. */
function forgetFirst(ids: Map<string, UsedId>, hasEnded: (used: UsedId) => boolean): void {
  for (const [id, used] of ids) if (hasEnded(used)) return void ids.delete(id);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
