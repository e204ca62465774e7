import { Listeners } from '../util/listeners.js';
import { smallestOf } from '../util/long-lists.js';

/** RFC 5424 severities as MCP names them, least severe first. */
export const severities: readonly string[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** From which level on agents want log lines: of the legacy era as they have said once (`logging/setLevel`), of the modern one with each request. */
export class LogLevels {
  readonly changed = new Listeners<void>();
  readonly #levels = new Map<string, string>();
  /** Of a session those of its requests, in the modern era. */
  readonly #ofRequests = new Map<string, Map<string, string>>();

  /** What a server must send that this session has for itself; undefined: it has not said. */
  of(sessionId: string): string | undefined {
    return this.#levels.get(sessionId) ?? lowestOf(this.#ofRequests.get(sessionId)?.values() ?? []);
  }

  /** What a server that all share must send; undefined: nobody has said. */
  get lowest(): string | undefined {
    return lowestOf([...this.#levels.values(), ...[...this.#ofRequests.values()].flatMap((levels) => [...levels.values()])]);
  }

  set(sessionId: string, level: string): void {
    this.#levels.set(sessionId, level);
    this.changed.emit();
  }

  /** That session has ended. */
  delete(sessionId: string): void {
    if (this.#levels.delete(sessionId)) this.changed.emit();
  }

  /** For a request of the modern era, until the returned function is called. */
  setForRequest(sessionId: string, callId: string, level: string): () => void {
    const levels = this.#ofRequests.get(sessionId) ?? new Map<string, string>();
    this.#ofRequests.set(sessionId, levels.set(callId, level));
    this.changed.emit();
    return () => {
      levels.delete(callId);
      if (levels.size === 0) this.#ofRequests.delete(sessionId);
      this.changed.emit();
    };
  }
}

function lowestOf(levels: Iterable<string>): string | undefined {
  return severities[smallestOf(Array.from(levels, (level) => severities.indexOf(level)))];
}
