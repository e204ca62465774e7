type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` for one transport of the SDK that keeps its place in an event stream. A server may close a stream time and again while a call
 * runs (polling). The transport forgets where it was when nothing came between two closes: it asks for the next stream without
 * `Last-Event-ID`, and the answer would never arrive. Here that request gets the id that the one before it had.
 */
export function createResumingFetch(send: Fetch = fetch): Fetch {
  /** Ids of streams that ended without a new one, oldest first. */
  const lost: string[] = [];
  return async (url, init = {}) => {
    if (init.method !== 'GET') return send(url, init);
    const headers = new Headers(init.headers);
    const own = headers.get('last-event-id');
    const eventId = own ?? lost.shift();
    if (eventId === undefined) return send(url, init);
    headers.set('last-event-id', eventId);
    const giveBack = (): void => void lost.push(eventId);
    // Of a request that failed the transport remembers what it had asked for itself.
    const onFailed = own === null ? giveBack : () => {};
    try {
      const response = await send(url, { ...init, headers });
      if (response.ok && response.body !== null) return watch(response, response.body, giveBack);
      onFailed();
      return response;
    } catch (error) {
      onFailed();
      throw error;
    }
  };
}

/** The same response; `onSilent` is called if its stream ends, or breaks, before any event. */
function watch(response: Response, stream: ReadableStream<Uint8Array>, onSilent: () => void): Response {
  const reader = stream.getReader();
  let isSilent = true;
  let line = '';
  const read = (chunk: Uint8Array): void => {
    if (!isSilent) return;
    // Comments and `retry` are no events.
    const text = line + Buffer.from(chunk).toString('latin1');
    isSilent = !/(^|[\r\n])(id|data) ?:/.test(text);
    line = text.slice(text.search(/[^\r\n]{0,8}$/));
  };
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { value, done } = await reader.read().catch((error: unknown) => {
        if (isSilent) onSilent();
        throw error;
      });
      if (value !== undefined) {
        read(value);
        controller.enqueue(value);
      }
      if (!done) return;
      if (isSilent) onSilent();
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}
