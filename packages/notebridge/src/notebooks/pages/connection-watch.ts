import type { Listeners } from '@notebridge/protocol/util/listeners';
import type { ConnectionState } from '../connection-state.js';
import type { RefusedPage } from './page-listener.js';
import type { Slot, TurnedAway } from './slot.js';

export interface ConnectionWatchOptions {
  slot: Slot;
  listener: { readonly refused: Listeners<RefusedPage>; readonly silentConnections: number };
  /** True while a page's handshake is over, and it can be called. */
  isConnected: () => boolean;
}

/** How a page was opened, or why not. */
export interface PageOpening {
  opened: boolean;
  hint?: string | undefined;
}

/** How long a page that was sent away is shown, though another one is connected. Milliseconds. */
const busyShownMs = 60_000;

/** What a slot's pages have come to, for the person who waits for one: the last thing that happened since a page was last connected. */
export class ConnectionWatch {
  readonly #options: ConnectionWatchOptions;
  readonly #stop: (() => void)[];
  #last: ConnectionState = { kind: 'not_opened' };
  #busyAt = Number.NEGATIVE_INFINITY;
  /** Silent connections that are not why no page comes now. */
  #silentBefore = 0;

  constructor(options: ConnectionWatchOptions) {
    this.#options = options;
    const { slot, listener } = options;
    this.#stop = [
      slot.connected.add(() => this.#reset({ kind: 'gone' })),
      slot.turnedAway.add((page) => this.#turnedAway(page)),
      listener.refused.add((page) => this.#refused(page)),
    ];
  }

  get state(): ConnectionState {
    const { slot, listener, isConnected } = this.#options;
    const { holder } = slot;
    if (holder !== undefined) {
      // A page that did connect shows that the permission is there.
      this.#silentBefore = listener.silentConnections;
      const who = describeHolder(holder);
      if (!isConnected()) return { kind: 'handshaking', holder: who };
      if (performance.now() - this.#busyAt < busyShownMs) return { kind: 'busy', holder: who };
      return { kind: slot.rememberedTools?.length === 0 ? 'no_tools' : 'connected', holder: who };
    }
    return listener.silentConnections > this.#silentBefore ? { kind: 'silent' } : this.#last;
  }

  /** A page was to be opened. What came of an earlier one is not asked for any more. */
  opened({ opened, hint }: PageOpening): void {
    if (this.#last.kind === 'not_opened' || this.#last.kind === 'gone' || this.#last.kind === 'no_contact')
      this.#last = opened ? { kind: 'no_contact' } : { kind: 'not_opened', hint };
  }

  /** Connections that have said nothing yet are a browser's that looks at our own pages: it opens some in advance. */
  ownPageAsked(): void {
    if (this.state.kind !== 'silent') this.#silentBefore = this.#options.listener.silentConnections;
  }

  close(): void {
    for (const stop of this.#stop.splice(0)) stop();
  }

  #reset(next: ConnectionState): void {
    this.#last = next;
    this.#busyAt = Number.NEGATIVE_INFINITY;
    this.#silentBefore = this.#options.listener.silentConnections;
  }

  #turnedAway({ why, origin }: TurnedAway): void {
    if (why === 'busy') this.#busyAt = performance.now();
    else this.#reset({ kind: 'stale_token', origin: plainOrigin(origin) });
  }

  #refused({ why, origin }: RefusedPage): void {
    if (why === 'unknown') this.#reset({ kind: 'stale_token', origin: plainOrigin(origin) });
    if (why === 'wrong_origin' || why === 'other_user') this.#reset({ kind: why, origin: plainOrigin(origin) });
  }
}

function describeHolder({ origin, since }: { origin: string; since: number }): string {
  return `a page of ${plainOrigin(origin) ?? 'another site'}, connected since ${new Date(since).toTimeString().slice(0, 5)}`;
}

/** Anybody may send anything as an origin, and it is shown to persons and agents. */
function plainOrigin(origin: string | undefined): string | undefined {
  return origin !== undefined && /^https?:\/\/[\w.:[\]-]{1,100}$/.test(origin) ? origin : undefined;
}
