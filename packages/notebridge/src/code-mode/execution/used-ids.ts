import { createHash } from 'node:crypto';
import type { CodeExecution } from './code-execution.js';

/** Of one principal: what another one does pushes none of them out. */
const mostOfOne = 5000;
/** Those that have not come for longest are forgotten. */
const mostPrincipals = 1000;

export interface UsedId {
  /** A hash of all that the execution depends on. */
  readonly what: string;
  /** Undefined: its answer is not kept any more. */
  execution: CodeExecution | undefined;
}

/** The ids that agents gave their executions, so that nothing runs twice; of each only a hash is kept. */
export class UsedIds {
  readonly #byPrincipal = new Map<string, Map<string, UsedId>>();
  readonly #byExecution = new WeakMap<CodeExecution, UsedId>();

  get(principalKey: string, id: string): UsedId | undefined {
    return this.#byPrincipal.get(principalKey)?.get(hashOf(id));
  }

  add(principalKey: string, id: string, used: UsedId): void {
    const own = this.#byPrincipal.get(principalKey) ?? new Map<string, UsedId>();
    this.#byPrincipal.delete(principalKey);
    this.#byPrincipal.set(principalKey, own);
    if (own.size >= mostOfOne) forgetOldest(own);
    own.set(hashOf(id), used);
    if (used.execution !== undefined) this.#byExecution.set(used.execution, used);
    const [longest] = this.#byPrincipal.keys();
    if (this.#byPrincipal.size > mostPrincipals && longest !== undefined) this.#byPrincipal.delete(longest);
  }

  /** Its code never ran: it may be asked for again. */
  delete(principalKey: string, id: string): void {
    this.#byPrincipal.get(principalKey)?.delete(hashOf(id));
  }

  /** The answer is not kept any more. */
  forgetAnswer(execution: CodeExecution): void {
    const used = this.#byExecution.get(execution);
    if (used !== undefined) used.execution = undefined;
  }
}

/** Of those that have ended. */
function forgetOldest(own: Map<string, UsedId>): void {
  for (const [id, { execution }] of own) if (execution?.hasEnded !== false) return void own.delete(id);
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
