import { parseJson } from '@notebridge/protocol/exact-json';
import type { OwnerBody, OwnerBodyName } from '../src/doors/owner/owner-schemas.js';
import { encodeName } from './route.js';

/** Who this tab is to the hub: it was signed in by a code in its address, and keeps a token for as long as it is open. */

const storageKey = 'notebridge-console';
const leftState = 'signed-out';
let token = readStored();

/** What the hub answered in place of what was asked for. */
export class HubFault extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Takes the code out of the address and signs in with it. Resolves with why this tab is not signed in, or undefined. */
export async function enter(): Promise<string | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null) {
    if (token !== undefined) return undefined;
    return history.state === leftState ? 'You have signed out.' : 'This page is opened by an address of its own.';
  }
  // What stays in the browser's history opens nothing.
  history.replaceState(null, '', location.pathname);
  return signIn(code);
}

/** Signs this tab in by the code of an address, or one that a person types. Resolves with why not, or undefined. */
export async function signIn(code: string): Promise<string | undefined> {
  try {
    const answer = await fetch('/console/enter', { method: 'POST', headers: { authorization: `Bearer ${code}` } });
    const text = await answer.text();
    // A tab that is signed in stays so: its address was opened a second time.
    if (!answer.ok) return token === undefined ? faultOf(text) : undefined;
    keep(text.trim());
    return undefined;
  } catch {
    return 'The hub does not answer. Look whether it still runs.';
  }
}

/** Signs this tab in with a grant that only watches. Rejects as `ask` if it is none. */
export async function watch(grant: string): Promise<void> {
  const before = token;
  token = grant;
  try {
    await ask('');
    keep(grant);
  } catch (error) {
    token = before;
    throw error;
  }
}

/** Signs out: what this tab held opens nothing any more. */
export async function leave(): Promise<void> {
  const ended = send('/console/leave', { method: 'POST' });
  forget();
  // Of this tab, also when it is loaded anew.
  history.replaceState(leftState, '');
  // A hub that does not answer has forgotten the tab by itself.
  await ended.catch(() => {});
}

/** Forgets who this tab is. */
export function forget(): void {
  token = undefined;
  try {
    sessionStorage.removeItem(storageKey);
  } catch {}
}

/** Asks a route of the owner's API, which answers with the body of that name; numbers keep their digits. Rejects with `HubFault`, or a `TypeError` where the hub does not answer. */
export async function ask<Name extends OwnerBodyName>(
  path: string,
  { method = 'GET', body }: { method?: string; body?: object } = {},
): Promise<OwnerBody<Name>> {
  const answer = await send(`/api/v1/hub${path}`, { method, ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }) });
  return parseJson(await answer.text()) as OwnerBody<Name>;
}

/** Any request of this tab. Rejects as `ask`. */
export async function send(path: string, { headers, ...init }: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
  const type = typeof init.body === 'string' ? { 'content-type': 'application/json' } : {};
  const answer = await fetch(path, { ...init, headers: { authorization: `Bearer ${token ?? ''}`, ...type, ...headers } });
  if (answer.ok) return answer;
  throw new HubFault(answer.status, faultOf(await answer.text()));
}

/** A path below the owner's routes, of names that others chose. */
export function pathOf(...parts: string[]): string {
  return parts.map((part) => `/${encodeName(part)}`).join('');
}

function readStored(): string | undefined {
  try {
    return sessionStorage.getItem(storageKey) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Where the browser keeps nothing, the tab is signed in until it is loaded anew. */
function keep(text: string): void {
  token = text;
  try {
    sessionStorage.setItem(storageKey, text);
  } catch {}
}

function faultOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail: unknown };
    return typeof detail === 'string' ? detail : JSON.stringify(detail);
  } catch {
    return text === '' ? 'The hub did not say why.' : text.slice(0, 2000);
  }
}
