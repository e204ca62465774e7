import type { BridgeError } from './errors.js';

/**
 * Carries "the caller no longer wants this" from door to provider. An `AbortSignal` costs microseconds to make and to
 * listen to, which the call path would pay on every call; here it is made only on request.
 */
export class Cancellation {
  /** Nearly every call has one listener; a set is made for the second. */
  #listener: ((reason: string) => void) | undefined;
  #others: Set<(reason: string) => void> | undefined;
  #reason: string | undefined;
  #callerIsGone = false;
  #callerWaits = false;
  #controller: AbortController | undefined;
  /** Callbacks that end the work which goes on when the call is answered, each told why. Undefined: there was no such work. */
  #outliving: Set<(why: BridgeError) => void> | undefined;
  #onNoneLeft: (() => void) | undefined;

  /** Why it was cancelled, or undefined while it was not. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** It was not asked for: the caller's connection ended. Work that can be picked up again may go on. */
  get callerIsGone(): boolean {
    return this.#callerIsGone;
  }

  /** Somebody else cancelled it, and the caller is to be answered. */
  get callerWaits(): boolean {
    return this.#callerWaits;
  }

  /** The same as an `AbortSignal`, for everything that takes one. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(new DOMException(this.#reason, 'AbortError'));
    }
    return this.#controller.signal;
  }

  /** Calls back when cancelled, at once if it already is. Returns the unsubscribe function. */
  onCancel(listener: (reason: string) => void): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return () => {};
    }
    if (this.#listener === undefined) this.#listener = listener;
    else {
      this.#others ??= new Set();
      this.#others.add(listener);
    }
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
      else this.#others?.delete(listener);
    };
  }

  /** Cancels; the first reason stays. */
  cancel(reason: string, { callerIsGone = false, callerWaits = false }: { callerIsGone?: boolean; callerWaits?: boolean } = {}): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#callerIsGone = callerIsGone;
    this.#callerWaits = callerWaits;
    const first = this.#listener;
    const others = this.#others;
    this.#listener = this.#others = undefined;
    first?.(reason);
    for (const listener of others ?? []) listener(reason);
    this.#controller?.abort(new DOMException(reason, 'AbortError'));
  }

  /**
   * The caller may not call any more: cancels, and ends also what has outlived the call, which nobody could cancel else. The caller is told why.
   */
  withdraw(why: BridgeError): void {
    this.cancel(why.message, { callerWaits: true });
    for (const end of [...(this.#outliving ?? [])]) end(why);
  }

  /** For work that may go on when its call is answered: calls back when the right to it is withdrawn. Returns what is to be called at its end. */
  outlive(onWithdrawn: (why: BridgeError) => void): () => void {
    this.#outliving ??= new Set();
    const outliving = this.#outliving.add(onWithdrawn);
    return () => {
      if (!outliving.delete(onWithdrawn) || outliving.size > 0) return;
      this.#onNoneLeft?.();
      this.#onNoneLeft = undefined;
    };
  }

  /** Calls back once nothing is left that outlives the call, at once if nothing is. */
  whenNotOutlived(callback: () => void): void {
    if (this.#outliving === undefined || this.#outliving.size === 0) callback();
    else this.#onNoneLeft = callback;
  }
}
