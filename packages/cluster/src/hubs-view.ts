import type { StoreChange } from '@notebridge/system/files/shared-store';
import type { HubView, StoreParts } from './cluster-parts.js';
import { keepWatching } from './keep-watching.js';
import { endOverdue, hubPrefix, leaseMs, parseLeaseEntry } from './lease-entries.js';

/** A lease that is as it was for so long has run out, also where the store lags. Milliseconds. */
const overdueMs = 2 * leaseMs;

interface HubsViewOptions extends StoreParts {
  /** Another hub came, changed or went. */
  onChange: () => void;
}

/** The hubs that hold a lease, as far as the store has told. It may be old, and decides nothing. */
export class HubsView {
  readonly #options: HubsViewOptions;
  readonly #hubs = new Map<string, { view: HubView; revision: number; since: number }>();
  #stopLook: (() => void) | undefined;
  #stop: (() => void) | undefined;

  constructor(options: HubsViewOptions) {
    this.#options = options;
  }

  get hubs(): readonly HubView[] {
    return [...this.#hubs.values()].map(({ view }) => view);
  }

  open(): void {
    const { store, runtime, logger } = this.#options;
    this.#stop ??= keepWatching({ store, runtime, logger, prefix: hubPrefix, listener: (change) => this.#hear(change) });
    this.#lookLater();
  }

  close(): void {
    this.#stop?.();
    this.#stopLook?.();
  }

  #lookLater(): void {
    this.#stopLook = this.#options.runtime.after(overdueMs / 2, () => {
      this.#endOverdue();
      this.#lookLater();
    });
  }

  /** The store alone decides: of a hub that was renewed without our knowing nothing is written over. */
  #endOverdue(): void {
    const { store, runtime } = this.#options;
    const now = runtime.steady();
    for (const [id, hub] of this.#hubs) {
      if (now - hub.since < overdueMs) continue;
      hub.since = now;
      endOverdue(store, id, hub.revision).catch(() => undefined);
    }
  }

  #hear({ key, entry, revision }: StoreChange): void {
    const id = key.slice(hubPrefix.length);
    const known = this.#hubs.get(id);
    if (known && revision <= known.revision) return;
    const parsed = entry && parseLeaseEntry(entry.value);
    if (parsed && parsed !== 'ended') {
      this.#hubs.set(id, { view: parsed.view, revision, since: this.#options.runtime.steady() });
      // A renewal that says nothing new is nothing new.
      if (!known || JSON.stringify(known.view) !== JSON.stringify(parsed.view)) this.#options.onChange();
    } else if (this.#hubs.delete(id)) this.#options.onChange();
  }
}
