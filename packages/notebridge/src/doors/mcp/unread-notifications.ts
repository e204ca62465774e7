import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { printMessage } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { toNotification } from '@notebridge/protocol/rpc/messages';

/** Notifications that were dropped, since an agent did not read. Of a list's changes only that there was one: they all mean "ask again". */
export class UnreadNotifications {
  readonly #lists = new Set<string>();
  #count = 0;

  add(method: string, times = 1): void {
    if (method.endsWith('/list_changed') && this.#lists.size < 100) this.#lists.add(method);
    else this.#count += times;
  }

  /** What it is sent now that it reads again. */
  takeAll(): ProviderEvent[] {
    const events: ProviderEvent[] = [...this.#lists].map((method) => ({ method }));
    if (this.#count > 0) {
      const data = `Dropped ${this.#count} notifications, since what was sent before was not read. Read again what you watch.`;
      events.push({ method: 'notifications/message', params: { level: 'warning', logger: 'notebridge', data } });
    }
    this.#lists.clear();
    this.#count = 0;
    return events;
  }
}

/** Notifications that are kept for one agent, and their characters together; of more the oldest are dropped, and that is said. */
const maxKept = 100;
const maxCharacters = 1_000_000;

interface Kept {
  notification: JsonObject;
  characters: number;
}

/** Notifications that could not be sent yet. Of a list's changes one is kept: they all mean "ask again". */
export class KeptNotifications {
  #kept: Kept[] = [];
  #characters = 0;
  readonly #dropped = new UnreadNotifications();

  add(notification: JsonObject): void {
    const method = String(notification.method);
    if (method.endsWith('/list_changed') && this.#kept.some((other) => other.notification.method === method)) return;
    const characters = lengthOf(notification);
    // A server may say what it likes, as long as it likes, to an agent that is not there.
    if (characters > maxCharacters) return this.#dropped.add(method);
    this.#kept.push({ notification, characters });
    this.#characters += characters;
    while (this.#kept.length > maxKept || this.#characters > maxCharacters) this.#dropOldest();
  }

  /** What was dropped comes first. */
  takeAll(): JsonObject[] {
    this.#characters = 0;
    const dropped = this.#dropped.takeAll().map(({ method, params }) => toNotification(method, params));
    return [...dropped, ...this.#kept.splice(0).map(({ notification }) => notification)];
  }

  #dropOldest(): void {
    const oldest = this.#kept.shift();
    if (oldest === undefined) return;
    this.#characters -= oldest.characters;
    this.#dropped.add(String(oldest.notification.method));
  }
}

function lengthOf(notification: JsonObject): number {
  try {
    return printMessage(notification).length;
  } catch {
    // Nested too deeply to be sent.
    return Number.POSITIVE_INFINITY;
  }
}
