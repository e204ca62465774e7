import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { Principal } from '@notebridge/protocol/core/principal';

/** An HTTP request of a session's agent, as it is handed on. Who sent it was proved where it came in. */
export interface RelayedRequest {
  method: string;
  /** Those that the door of agents reads, lower case. */
  headers: Record<string, string>;
  body: string;
  principal: Principal;
}

/** Takes what is answered: the head first, then pieces of the body. */
export interface RelayedAnswer {
  head(status: number, headers: Record<string, string>): void;
  data(piece: Buffer): void;
}

/** Answers a request. Resolves when all was answered. */
export type AnswerRelayed = (request: RelayedRequest, answer: RelayedAnswer, cancellation: Cancellation) => Promise<void>;

/** Sessions of agents stay with the hub where they began; their requests may come to any. */
export interface SessionRelay {
  /** Ends the ids of this hub's sessions, and says whose they are. */
  readonly mark: string;
  /** What the hub of a mark is to this one. `gone`: there is none. */
  look(mark: string): 'self' | 'other' | 'draining' | 'gone';
  /** Has the hub of a mark answer. Rejects with `hub_gone` or `cluster_unavailable`. */
  send(mark: string, request: RelayedRequest, answer: RelayedAnswer, cancellation: Cancellation): Promise<void>;
  /** Answers what other hubs hand on, from now on. Returns the function that ends it. */
  serve(answer: AnswerRelayed): () => void;
}
