import type { JsonObject } from '@notebridge/kit/json';
import { printMessage } from '../../core/wire.js';
import { toNotification } from '../../rpc/messages.js';
import { UnreadNotifications } from './unread-notifications.js';

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
