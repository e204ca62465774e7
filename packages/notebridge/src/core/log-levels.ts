import { Listeners } from '@notebridge/kit/listeners';

/** RFC 5424 severities as MCP names them, least severe first. */
export const severities: readonly string[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** From which level on each agent of the legacy era wants log lines, as far as it has said so (`logging/setLevel`). */
export class LogLevels {
  readonly changed = new Listeners<void>();
  readonly #levels = new Map<string, string>();

  /** Undefined: that session has not said. */
  of(sessionId: string): string | undefined {
    return this.#levels.get(sessionId);
  }

  /** What a server that all share must send; undefined: nobody has said. */
  get lowest(): string | undefined {
    return severities[Math.min(...[...this.#levels.values()].map((level) => severities.indexOf(level)))];
  }

  set(sessionId: string, level: string): void {
    this.#levels.set(sessionId, level);
    this.changed.emit();
  }

  /** That session has ended. */
  delete(sessionId: string): void {
    if (this.#levels.delete(sessionId)) this.changed.emit();
  }
}
