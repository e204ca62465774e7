import type { Caller } from '../../core/call-context.js';
import { owner } from '../../core/principal.js';
import type { ProviderEvent } from '../../core/provider.js';
import type { Hub } from '../../hub.js';
import { isLevelWanted } from './legacy-era.js';

interface Listener {
  caller: Caller;
  logLevel: string;
  notify: (method: string, params: ProviderEvent['params']) => void;
}

/** Requests of the modern era that run and have asked for log lines: these are sent beside their answer, and nowhere else. */
export class ModernLogs {
  readonly #listeners = new Map<string, Listener>();

  /** Returns what is to be done when the request ends. */
  add(callId: string, listener: Listener): () => void {
    this.#listeners.set(callId, listener);
    return () => void this.#listeners.delete(callId);
  }

  /** Sends a line of a server to the requests that run there, as far as they may see lines that concern no one call. */
  pass(event: ProviderEvent, hub: Hub): void {
    if (this.#listeners.size === 0 || event.method !== 'notifications/message') return;
    for (const callId of event.callIds ?? []) {
      const listener = this.#listeners.get(callId);
      if (listener === undefined || !isLevelWanted(event.params?.level, listener.logLevel)) continue;
      const { sessionId, principal = owner } = listener.caller;
      if ((event.sessionId ?? sessionId) === sessionId && hub.mayHear(principal, event)) listener.notify(event.method, event.params);
    }
  }
}
