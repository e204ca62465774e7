import type { Slot } from './slot.js';

/** By what a page asks to be let in. */
export interface SlotQuery {
  /** Of its token. */
  digest: Buffer;
  origin: string;
}

/** `busy`: a living page is in it, elsewhere. `later`: it is known, and cannot be had just now. `away`: what is elsewhere cannot be known just now. */
export type FoundSlot = { slot: Slot } | 'busy' | 'later' | 'away' | 'unknown' | 'wrong_origin';

/** Finds slots by a token that none of the port's own admits: those of other hubs, which come here with their pages. */
export interface SlotFinder {
  /** Whether pages of this origin may be in any of them. */
  allowsOrigin(origin: string): boolean;
  /** Whether it is the token of one of them, as far as was told. */
  knows(digest: Buffer): boolean;
  /** Has the slot here. Never rejects. */
  find(query: SlotQuery): Promise<FoundSlot>;
}
