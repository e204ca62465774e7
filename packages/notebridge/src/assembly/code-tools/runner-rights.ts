import type { DelegatedRights, DelegateRights } from '@notebridge/protocol/core/delegate-rights';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';

/** The tools by which an agent has code run in the built-in notebook. */
const runningTools: ReadonlySet<unknown> = new Set(['run_code', 'run_code_cell']);

/**
 * What code in the notebook may call once agents with grants have had code run there: what the notebook's own grant and each of theirs
 * allows. Whoever ran later cannot be told apart from what an earlier one has left behind in the kernel.
 */
export class RunnerRights {
  readonly #delegate: DelegateRights;
  readonly #onEnd: (principal: Principal) => void;
  readonly #runners = new Map<string, Principal>();
  #current: { ownGrant: string; rights: DelegatedRights } | undefined;

  /** Learns, before an agent has code run, on whose behalf that is. */
  readonly watch: Middleware = {
    name: 'watchRunners',
    onMessage: (context, callNext) => {
      const { method, message, caller } = context;
      if (method === 'tools/call' && caller.principal !== undefined && runningTools.has(message.name)) this.#holdTo(caller.principal);
      return callNext(context);
    },
  };

  /** `onEnd`: called when nothing is called any more as this principal. */
  constructor(delegate: DelegateRights, onEnd: (principal: Principal) => void) {
    this.#delegate = delegate;
    this.#onEnd = onEnd;
  }

  /** From now on. The owner and anonymous callers add no bound. */
  #holdTo(runner: Principal): void {
    if (runner.kind !== 'grant') return;
    this.#runners.set(principalKey(runner), runner);
    this.#current?.rights.join(runner);
  }

  /** What a call is made as, of the notebook with this grant of its own. */
  of(own: Principal): Principal {
    if (this.#runners.size === 0) return own;
    const ownGrant = principalKey(own);
    if (this.#current?.ownGrant !== ownGrant) {
      this.#end();
      this.#current = { ownGrant, rights: this.#delegate([own, ...this.#runners.values()], { label: 'the built-in notebook' }) };
    }
    return this.#current.rights.principal;
  }

  /** A person has decided anew. */
  forget(): void {
    this.#runners.clear();
    this.#end();
  }

  #end(): void {
    const { rights } = this.#current ?? {};
    this.#current = undefined;
    if (rights === undefined) return;
    rights.end();
    this.#onEnd(rights.principal);
  }
}
