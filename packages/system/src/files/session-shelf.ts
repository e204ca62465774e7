import type { Principal } from '@notebridge/protocol/core/principal';
import type { JsonObject } from '@notebridge/protocol/json';

/** A session of an agent of the legacy era, as another hub, or the next start of this one, goes on with it. */
export interface LeftSession {
  principal: Principal;
  /** The version that was agreed on. */
  version: string;
  /** What the agent has said that is still so: `initialize`, its log level, the resources that it watches. As JSON-RPC, in this order. */
  said: JsonObject[];
}

/** Where a hub that ends leaves the sessions of its agents, and the hub finds them to which an agent comes next. */
export interface SessionShelf {
  /** `key`: the `Mcp-Session-Id`, of which only a digest is kept. Never rejects; resolves to whether it is there. */
  leave(key: string, session: LeftSession): Promise<boolean>;
  /**
   * One that this principal's agent was left with, once; or the mark of the hub that has taken it, whoever asks. Undefined if there is none.
   * Rejects with `cluster_unavailable` if that is not known.
   */
  take(key: string, principal: Principal): Promise<LeftSession | { at: string } | undefined>;
}
