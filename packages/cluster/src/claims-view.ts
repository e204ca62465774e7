import type { ClaimEntry } from './claim-entries.js';
import type { ClaimRecord } from './cluster-parts.js';

export interface KnownClaim {
  entry: ClaimEntry;
  revision: number;
}

/**
 * Who has what, as far as the store has told and as this hub has written itself. It may be old, and decides nothing. What is newer is known
 * by the revision, so it doesn't matter who says it first.
 */
export class ClaimsView {
  readonly #known = new Map<string, { entry: ClaimEntry | undefined; revision: number }>();

  /** Nothing is remembered. */
  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  get(resource: string): KnownClaim | undefined {
    const known = this.#known.get(resource);
    return known?.entry && { entry: known.entry, revision: known.revision };
  }

  /** All that names this hub. Looked for in all that is known: hubs come and go seldom. */
  of(hub: string): ReadonlySet<string> {
    return new Set([...this.#known].flatMap(([resource, { entry }]) => (entry?.hub === hub ? [resource] : [])));
  }

  *below(prefix: string): Iterable<[string, KnownClaim]> {
    for (const [resource, { entry, revision }] of this.#known)
      if (entry && resource.startsWith(prefix)) yield [resource, { entry, revision }];
  }

  /** True: it was news. `entry` undefined: it was removed, as the store says. */
  note(resource: string, entry: ClaimEntry | undefined, revision: number): boolean {
    const known = this.#known.get(resource);
    if (known && revision <= known.revision) return false;
    if (entry) this.#known.set(resource, { entry, revision });
    else this.#known.delete(resource);
    return true;
  }

  /** This hub has removed the entry of this revision. That stays known until the store says so too, lest older news bring it back. */
  noteRemoved(resource: string, revision: number): void {
    const known = this.#known.get(resource);
    // Told already: nothing is to come that would take it away again.
    if (known === undefined || known.revision > revision) return;
    this.#known.set(resource, { entry: undefined, revision });
  }

  /** The entry of this revision is there no more. Should the watch be behind, it tells of the entry, and then of its end. True: it was news. */
  forget(resource: string, revision: number): boolean {
    const known = this.#known.get(resource);
    return known !== undefined && known.revision <= revision && this.#known.delete(resource);
  }
}

export function toRecord(resource: string, { entry: { hub, epoch, about } }: KnownClaim): ClaimRecord {
  return { resource, hub: hub ?? undefined, epoch, about };
}
