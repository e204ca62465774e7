/** Between Python's thread, which may not use the network, and the main thread of its process, which fetches for it. */
import type { SendRequest } from './js-globals.js';
import { createPlainFetch, type PlainFetch, type PlainRequest, type PlainResponse } from './plain-fetch.js';

/** What Python's thread asks for. */
export type FetchMessage = { type: 'fetch'; id: number; request: PlainRequest } | { type: 'fetchAbort'; id: number };

/** What it is answered. */
export type FetchAnswer = { type: 'fetched'; id: number; response?: PlainResponse; error?: string };

/** The end in Python's thread. `take` answers whether the message was one of these. */
export function createFetchClient(post: (message: FetchMessage) => void): { send: SendRequest; take(message: { type: string }): boolean } {
  const waiting = new Map<number, { resolve: (response: PlainResponse) => void; reject: (error: unknown) => void }>();
  let lastId = 0;
  return {
    send(request) {
      const id = ++lastId;
      const response = new Promise<PlainResponse>((resolve, reject) => waiting.set(id, { resolve, reject }));
      post({ type: 'fetch', id, request });
      return {
        response,
        abort() {
          // Nobody waits for it; the code that aborted it reports that.
          response.catch(() => {});
          post({ type: 'fetchAbort', id });
        },
      };
    },
    take(message) {
      if (message.type !== 'fetched') return false;
      const { id, response, error } = message as FetchAnswer;
      const waits = waiting.get(id);
      waiting.delete(id);
      if (response) waits?.resolve(response);
      else waits?.reject(new TypeError(error));
      return true;
    },
  };
}

/** The end in the main thread, where nothing of Python's can reach the check. */
export function createFetchServer(origins: readonly string[], answer: (answer: FetchAnswer) => void): (message: FetchMessage) => void {
  // Made when it is first used: it takes Node a while to bring its `fetch`.
  let plainFetch: PlainFetch | undefined;
  const running = new Map<number, AbortController>();
  return (message) => {
    const { id } = message;
    if (message.type === 'fetchAbort') return running.get(id)?.abort();
    const controller = new AbortController();
    running.set(id, controller);
    plainFetch ??= createPlainFetch(origins);
    plainFetch(message.request, controller.signal)
      .then(
        (response) => answer({ type: 'fetched', id, response }),
        (error: unknown) => answer({ type: 'fetched', id, error: error instanceof Error ? error.message : String(error) }),
      )
      .finally(() => running.delete(id));
  };
}
