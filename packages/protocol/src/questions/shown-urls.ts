import type { Question } from '../core/questions.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { keepLatest } from '../util/keep-latest.js';

/** Remembered of one server; the oldest is forgotten. */
const mostRemembered = 1000;

/** Which session was shown which URL of a server of the legacy era: that a person is done with it is for that session alone. */
export class ShownUrls {
  /** Sessions by the server's id of what it asked. */
  readonly #sessions = new Map<string, string>();

  /** Of a question to be put, if it shows a URL. */
  note({ method, params = {} }: Question, sessionId: string): void {
    if (method === 'elicitation/create' && params.mode === 'url') this.#keep(params.elicitationId, sessionId);
  }

  /** Of the error by which a server asks for URLs: `data.elicitations`. */
  noteError({ data }: JsonObject, sessionId: string): void {
    const elicitations = isJsonObject(data) && Array.isArray(data.elicitations) ? data.elicitations : [];
    for (const asked of elicitations) if (isJsonObject(asked)) this.#keep(asked.elicitationId, sessionId);
  }

  /** Undefined for an id that nobody was shown. */
  sessionOf(elicitationId: unknown): string | undefined {
    return typeof elicitationId === 'string' ? this.#sessions.get(elicitationId) : undefined;
  }

  #keep(elicitationId: unknown, sessionId: string): void {
    if (typeof elicitationId === 'string') keepLatest(this.#sessions, [elicitationId, sessionId], mostRemembered);
  }
}
