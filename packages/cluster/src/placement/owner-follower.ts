import type { JsonObject } from '@notebridge/protocol/json';
import type { ClusterParts, Owned } from '../cluster-parts.js';
import { followEvents } from '../remote-events.js';
import { eventsMethod } from './server-resources.js';

/** Whoever still has it is followed again after so long. Milliseconds. */
const againMs = 1_000;

export interface OwnerFollowerOptions extends Pick<ClusterParts, 'calls' | 'runtime'> {
  onEvent: (event: JsonObject) => void;
  /** Nothing has come any more, for a while: who has it is to be followed, if somebody does. */
  onSilence: () => void;
}

/** Follows the events of a server at whoever has it. That ends with either hub's lease, though the owner may stay the same. */
export class OwnerFollower {
  readonly #options: OwnerFollowerOptions;
  #followed: { owned: Owned; stop: () => void } | undefined;
  #callOff: (() => void) | undefined;

  constructor(options: OwnerFollowerOptions) {
    this.#options = options;
  }

  get isFollowing(): boolean {
    return this.#followed !== undefined;
  }

  /** From now on this owner alone. */
  follow(owned: Owned): void {
    const before = this.#followed?.owned;
    if (before?.hub === owned.hub && before.epoch === owned.epoch) return;
    this.stop();
    const { calls, runtime, onEvent } = this.#options;
    const stop = followEvents({ calls, runtime, target: owned, method: eventsMethod, onEvent, onEnd: () => this.#lose(owned) });
    this.#followed = { owned, stop };
  }

  /** Stopping twice is harmless. */
  stop(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#followed?.stop();
    this.#followed = undefined;
  }

  #lose(owned: Owned): void {
    if (this.#followed?.owned !== owned) return;
    this.#followed = undefined;
    const { runtime, onSilence } = this.#options;
    this.#callOff = runtime.after(againMs, () => {
      this.#callOff = undefined;
      onSilence();
    });
  }
}
