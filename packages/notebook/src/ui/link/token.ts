const storageKey = 'notebridge-token';

/**
 * The token that opens the notebook. It comes in the fragment, which is removed from the address at once so that it is not
 * copied, bookmarked or seen over a shoulder; the tab keeps it for reloads.
 */
export function takeToken(): string | undefined {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('token');
  if (given === null) return sessionStorage.getItem(storageKey) ?? undefined;
  history.replaceState(history.state, '', location.pathname + location.search);
  sessionStorage.setItem(storageKey, given);
  return given;
}

export function viewerUrl(token: string): string {
  const url = new URL('/viewer', location.href);
  url.protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  url.searchParams.set('token', token);
  return url.href;
}
