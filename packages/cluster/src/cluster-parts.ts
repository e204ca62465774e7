import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { MiddlewareContext } from '@notebridge/protocol/core/middleware';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Logger } from '@notebridge/protocol/util/logger';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import type { SharedStore } from '@notebridge/system/files/shared-store';
import type { ClusterBus } from './cluster-bus.js';

/** The parts of a hub in its cluster. Whatever works there takes those that it needs. */
export interface ClusterParts {
  store: SharedStore;
  bus: ClusterBus;
  membership: Membership;
  claims: Claims;
  calls: HubCalls;
  runtime: Runtime;
  logger: Logger;
  /** Name of the cluster. */
  cluster: string;
  /** The secret that all hubs of the cluster have, and nobody else. */
  key: Buffer;
}

/** The parts that are needed to follow the store. Without a logger nothing is logged. */
export type StoreParts = Pick<ClusterParts, 'store' | 'runtime'> & { logger?: Logger | undefined };

/** A hub of the cluster, as all can see it. */
export interface HubView {
  /** Of this life of the hub: another one after each start, and each time its lease was lost. */
  id: string;
  /** For people. */
  name: string;
  /** Of the program. */
  version: string;
  /** The newest form of the messages between hubs that it understands, and the oldest. */
  wire: { newest: number; oldest: number };
  /** Milliseconds since the epoch, by its own clock. */
  startedAt: number;
  /** Where its doors are. Undefined: it has none. */
  url?: string | undefined;
  /** The same as other machines reach it, as good as it knows: for hubs that ask it whether NATS is away for it, too. */
  askAt?: string | undefined;
  /** Calls that run there, as it said last. */
  load: number;
  /** True while it hands over what it has: it takes no more. */
  isDraining: boolean;
}

/** The hubs of the cluster, and the lease of this one. */
export interface Membership {
  readonly self: HubView;
  /** True as long as, by this hub's own clock, no other can hold it for dead. */
  isHeld(): boolean;
  /** Those that are alive as far as was told, this one among them while it is held. */
  hubs(): readonly HubView[];
  /** Calls when the lease is lost or there again, and when another hub came, changed or went. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
}

/** What somebody has, as far as was told: it may be old. */
export interface Owned {
  /** Kind and name: `server.github`, `notebook.nb7`. Parts as in the keys of the store; see `toKeyPart`. */
  resource: string;
  /** The id of its hub. */
  hub: string;
  /** Rises with each new owner. */
  epoch: number;
  /** What its owner says of it. */
  about: JsonObject;
}

/** What was written last of a resource, whether anybody has it or not, as far as was told. */
export interface ClaimRecord extends Omit<Owned, 'hub'> {
  /** It may have ended. Undefined: it was released. */
  hub: string | undefined;
}

/** What is said of a resource: or what is made of that which its last owner has said, which may be asked for several times. */
export type About = JsonObject | ((before: JsonObject) => JsonObject);

/** This hub has a resource. */
export interface Claim {
  readonly resource: string;
  readonly epoch: number;
  /** True as long as, by this hub's own clock, nobody else can have it. Asked again right before anything is started under it. */
  isHeld(): boolean;
  /** Writes what others see of it. Rejects with `StoreUnavailable` or `StoreConflict`. */
  describe(about: JsonObject): Promise<void>;
  /** Calls once, when it is held no more, for whatever reason. */
  onLost(listener: () => void): () => void;
  /**
   * Lets others have it at once. Never rejects; what can't be written runs out with the lease. The epoch, and what was said of it, is kept
   * for the next owner, but with `forget`, for what is never taken again: then nothing stays of it.
   */
  release(options?: { forget?: boolean }): Promise<void>;
}

/** Who has what. */
export interface Claims {
  /**
   * Takes what nobody has, or whose hub has ended: by compare-and-set alone. Undefined: another hub has it. Resolves to the claim that is
   * there if this hub has it. Rejects with `StoreUnavailable`, or `cluster_unavailable` if this hub's own lease is not held.
   */
  take(resource: string, about?: About): Promise<Claim | undefined>;
  /** What this hub has taken of it. Undefined: it has not. */
  held(resource: string): Claim | undefined;
  /** As far as was told; undefined: nobody, or a hub that has ended. */
  ownerOf(resource: string): Owned | undefined;
  /** What was said of it last, also by a hub that has ended. Undefined: nothing ever was, or it was forgotten. */
  recordOf(resource: string): ClaimRecord | undefined;
  /** As `recordOf`, of all below a prefix. */
  records(prefix: string): readonly ClaimRecord[];
  /** All below a prefix (`notebook.`) whose hubs are alive, as far as was told. */
  list(prefix: string): readonly Owned[];
  /** Calls with what has changed. Returns the unsubscribe function. */
  subscribe(listener: (resource: string) => void): () => void;
}

/**
 * What every hub has for itself, such as its own instance of a server, is called `hub.` and a name. Nobody else can own it, so it has no claim:
 * the hub's id in the target, and its lease, say all.
 */
export const ofHubItself = 'hub.';

/** Where a call goes. */
export interface CallTarget {
  hub: string;
  resource: string;
  /** The owner's epoch, as the caller knows it; 0 of what every hub has for itself. */
  epoch: number;
}

/** A call of another hub's caller, to be answered here. */
export interface ServedCall {
  readonly resource: string;
  /** The id of the hub that it came from. */
  readonly from: string;
  /** Bytes of progress that wait for that hub to take what came before. Too many are left out, but for what hubs say to one another. */
  readonly queuedBytes: () => number;
  /** As of a call that came through a door of this hub: who calls, progress, logs, questions, cancellation. */
  readonly context: MiddlewareContext;
}

/** Calls from hub to hub. */
export interface HubCalls {
  /**
   * Has the owner answer. It is started there at most once. Rejects with what the owner's provider rejects with; with `NotStarted` if it
   * certainly was not started, so that it may be made again, elsewhere; with `hub_gone` if whether it was is unknown; and with
   * `cancelled` or `timeout` as any call.
   */
  call(target: CallTarget, method: string, params: JsonObject, context: CallContext): Promise<JsonObject>;
  /** Answers calls of resources below a prefix, from now on, and `whileDraining` until this hub has ended. Returns the function that ends it. */
  serve(prefix: string, answer: (call: ServedCall) => Promise<JsonObject>, options?: { whileDraining?: boolean }): () => void;
}

export type WhyNotStarted = 'not_owner' | 'draining' | 'unreachable' | 'not_served';

/** The call was refused before it was started: its target has another owner by now, is gone, or takes no more. */
export class NotStarted extends Error {
  readonly reason: WhyNotStarted;

  constructor(reason: WhyNotStarted) {
    super(`The call was not started (${reason}).`);
    this.name = 'NotStarted';
    this.reason = reason;
  }
}

/** A name as one part of a key: what may not stand there is written as `=` and two hex digits of each byte. */
export function toKeyPart(name: string): string {
  return Buffer.from(name)
    .toString('latin1')
    .replaceAll(/[^A-Za-z0-9_-]/g, (byte) => `=${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** The name of which `toKeyPart` made this. */
export function fromKeyPart(part: string): string {
  const bytes = part.replaceAll(/=([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
