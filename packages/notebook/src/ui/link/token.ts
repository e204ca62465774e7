const storageKey = 'notebridge-key';

/** Each link opens one window, once: where the next one comes from. */
export const newLinkAdvice =
  'For a new link, ask your agent to open the notebook window, or press Enter in the terminal in which Notebridge runs.';

/** `missing`: there is no key here. The others are why the address gave none. */
export type EntryFault = 'missing' | 'used' | 'expired' | 'unknown' | 'other_user' | 'unreachable';

/**
 * The key by which this tab and the notebook's host know each other. The address brings a one-time token in its fragment, which is removed from
 * it at once and exchanged for the key, which this tab keeps: what stays in the browser's history opens nothing.
 */
export async function takeKey(): Promise<{ key: string } | { fault: EntryFault }> {
  const code = codeInAddress();
  const kept = sessionStorage.getItem(storageKey);
  if (code === null) return kept === null ? { fault: 'missing' } : { key: kept };
  history.replaceState(history.state, '', location.pathname + location.search);
  const entered = await enter(code);
  // A tab that is in already may have been sent back to the address that opened it.
  if ('fault' in entered && kept !== null) return { key: kept };
  return entered;
}

export function hasCode(): boolean {
  return codeInAddress() !== null;
}

function codeInAddress(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('token');
}

/** The key for a code of the address, or one that a person reads in a terminal and types. */
export async function enter(code: string): Promise<{ key: string } | { fault: EntryFault }> {
  try {
    const answer = await fetch('enter', { method: 'POST', body: code, cache: 'no-store' });
    const text = await answer.text();
    if (!answer.ok) return { fault: text === 'used' || text === 'expired' || text === 'other_user' ? text : 'unknown' };
    sessionStorage.setItem(storageKey, text);
    return { key: text };
  } catch {
    return { fault: 'unreachable' };
  }
}
