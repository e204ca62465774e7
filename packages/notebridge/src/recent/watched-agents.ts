import type { Caller } from '@notebridge/protocol/core/call-context';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import { Listeners } from '@notebridge/protocol/util/listeners';

/** An agent that is connected, as the owner of the hub sees it. What it says is of the moment at which it is asked. */
export interface WatchedAgent {
  /** Under which callers of the hub know it; no secret. */
  readonly sessionId: string;
  readonly door: Caller['door'];
  /** Undefined: it has said nothing yet. */
  readonly era: Era | undefined;
  readonly principal: Principal;
  /** What it calls itself. Requests of the modern era that have one principal are one agent here, and may have several names. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Its last request but a ping, in milliseconds since the epoch. Undefined: it has made none. */
  readonly lastCallAt: number | undefined;
  /** Requests that run just now. */
  readonly inFlight: number;
  /** Ends its session, and what runs in it. Left out: there is none that could be ended here. */
  readonly disconnect?: (() => void) | undefined;
}

/** The agents of a hub. Each door adds those that it serves. */
export class WatchedAgents {
  /** One has come or gone, or has said who it is. */
  readonly changed = new Listeners<void>();
  readonly #agents = new Set<WatchedAgent>();

  get all(): readonly WatchedAgent[] {
    return [...this.#agents];
  }

  /** Returns what takes it away again; twice is harmless. */
  add(agent: WatchedAgent): () => void {
    this.#agents.add(agent);
    this.changed.emit();
    return () => {
      if (this.#agents.delete(agent)) this.changed.emit();
    };
  }
}

/** What a client calls itself, with its version; undefined: it does not say. Cut, since it may say anything. */
export function nameOfClient(clientInfo: Caller['clientInfo']): string | undefined {
  const { title, name, version } = clientInfo ?? {};
  const [own] = [title, name].filter((text) => typeof text === 'string' && text !== '');
  if (own === undefined) return undefined;
  return `${String(own).slice(0, 80)}${typeof version === 'string' && version !== '' ? ` ${version.slice(0, 40)}` : ''}`;
}
