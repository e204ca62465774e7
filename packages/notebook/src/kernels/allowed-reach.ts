import { parseAllowedServers } from '@notebridge/sandbox/relay/allowed-servers';
import type { FolderAccess } from '@notebridge/sandbox/spec';
import type { Restriction } from '../kernel/jupyter/sandbox-notes.js';
import type { KernelChoice } from './kernel-choice.js';

/** `--files` and `--allow-net`. */
export interface CodeReach {
  readonly files: FolderAccess | undefined;
  readonly allowNet: readonly string[];
}

type Offer = NonNullable<KernelChoice['mayAllow']>;

/** Code can fail as often as it likes: a person is asked once in this time. Milliseconds. */
const pauseMs = 60_000;

/** What code of this kernel may reach, and what a person may add to it in a window. */
export class AllowedReach {
  readonly #now: () => number;
  readonly #refused = new Set<string>();
  #reach: CodeReach;
  #offer: Offer | undefined;
  #offeredAtMs = Number.NEGATIVE_INFINITY;

  /** `now`: a clock that is never set back, in milliseconds. */
  constructor(reach: CodeReach, now: () => number = () => performance.now()) {
    this.#reach = reach;
    this.#now = now;
  }

  get reach(): CodeReach {
    return this.#reach;
  }

  get offer(): Offer | undefined {
    return this.#offer;
  }

  /** True if there is another offer now. What code says it wanted comes from code: only what is a server's name is offered as one. */
  take(restriction: Restriction): boolean {
    const offer = toOffer(restriction);
    if (offer === undefined || this.#refused.has(offer.what) || this.#now() - this.#offeredAtMs < pauseMs) return false;
    this.#offeredAtMs = this.#now();
    this.#offer = offer;
    return true;
  }

  /** The reach with what is offered, if it is still this. */
  with(what: string): CodeReach | undefined {
    const { files, allowNet } = this.#reach;
    if (this.#offer?.what !== what) return undefined;
    return this.#offer.kind === 'write' ? { files: 'rw', allowNet } : { files, allowNet: [...allowNet, what] };
  }

  /** The reach of another kernel, which was kept from nothing yet. */
  set(reach: CodeReach): void {
    this.#reach = reach;
    this.#offer = undefined;
  }

  /** It is not offered again as long as the notebook is open. */
  refuse(what: string): void {
    this.#refused.add(what);
    if (this.#offer?.what === what) this.#offer = undefined;
  }
}

function toOffer(restriction: Restriction): Offer | undefined {
  if (restriction.kind === 'install') return undefined;
  if (restriction.kind === 'write') return { kind: 'write', what: restriction.folder };
  const what = restriction.host.toLowerCase();
  try {
    parseAllowedServers([what]);
    return what.includes('*') ? undefined : { kind: 'network', what };
  } catch {
    return undefined;
  }
}
