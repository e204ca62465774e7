type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A `fetch`, and what resolves when the first event stream that it was asked for is there, or refused. */
export function watchFirstStream(send: Fetch): { fetch: Fetch; answered: Promise<void> } {
  let resolve = (): void => {};
  const answered = new Promise<void>((resolveIt) => {
    resolve = resolveIt;
  });
  const fetch: Fetch = (url, init) => (init?.method === 'GET' ? send(url, init).finally(resolve) : send(url, init));
  return { fetch, answered };
}
