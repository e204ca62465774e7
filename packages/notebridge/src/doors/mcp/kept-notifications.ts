import type { JsonObject } from '../../util/json.js';

/** Notifications that are kept for one agent; of more the oldest are dropped. */
const maxKept = 100;

/** What an agent could not be told yet. Of a list's changes one is kept: they all say "ask again". */
export class KeptNotifications {
  #kept: JsonObject[] = [];

  add(notification: JsonObject): void {
    const { method } = notification;
    if (String(method).endsWith('/list_changed') && this.#kept.some((other) => other.method === method)) return;
    this.#kept.push(notification);
    if (this.#kept.length > maxKept) this.#kept.shift();
  }

  takeAll(): JsonObject[] {
    return this.#kept.splice(0);
  }
}
