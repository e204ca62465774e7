/** Who this tab is to the hub: it was signed in by a code in its address, and keeps a token for as long as it is open. */

const storageKey = 'notebridge-console';
let token = sessionStorage.getItem(storageKey) ?? undefined;

/** What the hub said in place of an answer. `isSignedOut`: this tab has to be opened anew. */
export class HubFault extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
  get isSignedOut(): boolean {
    return this.status === 401;
  }
}

/** Takes the code out of the address, and signs in by it. Resolves with why this tab is not signed in, in words, or undefined. */
export async function enter(): Promise<string | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) return token === undefined ? 'This page is opened by an address of its own. Run `notebridge console`.' : undefined;
  // What stays in the browser's history opens nothing.
  history.replaceState(null, '', location.pathname);
  try {
    const answer = await fetch('/console/enter', { method: 'POST', headers: { authorization: `Bearer ${code}` } });
    const text = await answer.text();
    if (!answer.ok) return token === undefined ? detailOf(text) : undefined;
    token = text;
    sessionStorage.setItem(storageKey, text);
    return undefined;
  } catch {
    return 'The hub does not answer. Look whether `notebridge serve` still runs, then run `notebridge console`.';
  }
}

export async function leave(): Promise<void> {
  await send('/console/leave', { method: 'POST' }).catch(() => {});
  sessionStorage.removeItem(storageKey);
  token = undefined;
}

/** Asks the owner's routes. Rejects with `HubFault`, or a `TypeError` where the hub does not answer. */
export async function ask<Answer>(path: string, options: { method?: string; body?: object } = {}): Promise<Answer> {
  const { body, method = body === undefined ? 'GET' : 'POST' } = options;
  const answer = await send(`/api/v1/hub${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  return (await answer.json()) as Answer;
}

/** Any request of this tab. Rejects as `ask`. */
export async function send(path: string, { headers, ...init }: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
  const type = typeof init.body === 'string' ? { 'content-type': 'application/json' } : {};
  const own = { authorization: `Bearer ${token ?? ''}`, ...type, ...headers };
  const answer = await fetch(path, { ...init, headers: own });
  if (answer.ok) return answer;
  throw new HubFault(answer.status, detailOf(await answer.text()));
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail: unknown };
    return typeof detail === 'string' ? detail : JSON.stringify(detail);
  } catch {
    return text;
  }
}
