/** What Python's `js` module holds, instead of everything the worker holds: what `pyodide.http.pyfetch` needs. */
export function createJsGlobals(fetchOrigins: readonly string[]): object {
  const { Object: objects, AbortController, AbortSignal, Request } = globalThis;
  return Object.assign(Object.create(null), { Object: objects, AbortController, AbortSignal, Request, fetch: createFetch(fetchOrigins) });
}

/** `fetch` for the given origins only, taken before `lockDown` hides the real one. */
function createFetch(fetchOrigins: readonly string[]): typeof fetch {
  const realFetch = globalThis.fetch.bind(globalThis);
  const origins = new Set(fetchOrigins);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (!origins.has(url.origin))
      throw new TypeError(`Fetching from "${url.origin}": the notebook may only reach ${describe(fetchOrigins)}`);
    // An allowed server must not be able to send Python on to another.
    return realFetch(input, { ...init, redirect: 'error' });
  };
}

function describe(origins: readonly string[]): string {
  return origins.length === 0 ? 'no server' : origins.join(', ');
}
