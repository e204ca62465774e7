/** Fetching from the origins that were given, of requests that are data: nothing in them can change between check and use. */
export interface PlainRequest {
  url: string;
  method: string;
  headers: [name: string, value: string][];
  body?: Uint8Array<ArrayBuffer>;
}

export interface PlainResponse {
  status: number;
  statusText: string;
  url: string;
  headers: [name: string, value: string][];
  body: Uint8Array;
}

/** Ends with an answer, or with an error whose message may be shown. */
export type PlainFetch = (request: PlainRequest, signal: AbortSignal) => Promise<PlainResponse>;

export function createPlainFetch(origins: readonly string[]): PlainFetch {
  // In a page this runs beside Python, so it keeps what it uses.
  const { fetch: realFetch, URL: RealUrl, Uint8Array: Bytes, Array: Arrays } = globalThis;
  const originOf = bound(Object.getOwnPropertyDescriptor(RealUrl.prototype, 'origin')?.get as () => string);
  const allowed = Object.freeze([...origins]);
  const list = allowed.length === 0 ? 'no server' : allowed.join(', ');
  const arrayBuffer = bound(Response.prototype.arrayBuffer);
  return async ({ url, method, headers, body }, signal) => {
    const origin = originOf(new RealUrl(url));
    let isAllowed = false;
    for (let at = 0; at < allowed.length; at++) isAllowed ||= allowed[at] === origin;
    if (!isAllowed) throw new TypeError(`Fetching from "${origin}": the notebook may only reach ${list}`);
    // An allowed server must not be able to send Python on to another.
    const response = await realFetch(url, { method, headers, redirect: 'error', signal, ...(body ? { body } : {}) });
    return {
      status: response.status,
      statusText: response.statusText,
      url: response.url,
      headers: Arrays.from(response.headers),
      body: new Bytes(await arrayBuffer(response)),
    };
  };
}

/** The method as a function of its object: found once, whatever becomes of the prototype. */
function bound<This, Given extends unknown[], Answer>(method: (this: This, ...given: Given) => Answer) {
  return Function.prototype.call.bind(method) as (self: This, ...given: Given) => Answer;
}
