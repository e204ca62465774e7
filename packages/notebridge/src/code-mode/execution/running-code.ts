import { type Principal, principalKey } from '../../core/principal.js';

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

/** All code that runs just now, by what its calls are made as. */
export class RunningCode {
  readonly #byPrincipal = new Map<string, Running>();

  /** Returns what ends it. */
  add(principal: Principal, running: Running): () => void {
    const key = principalKey(principal);
    this.#byPrincipal.set(key, running);
    return () => this.#byPrincipal.delete(key);
  }

  /** The code that has made a call; undefined for a call that none of it has made. */
  find(principal: Principal | undefined): Running | undefined {
    return principal?.kind === 'grant' ? this.#byPrincipal.get(principalKey(principal)) : undefined;
  }
}
