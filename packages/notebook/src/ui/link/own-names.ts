import { addOwnName } from '../names.js';

const storageKey = 'notebridge-names';

/** Each connection has a name of its own: what this tab did before a reload stays its own. */
export function keepOwnName(name: string): void {
  // Another host counts anew; it gave this tab another token.
  const token = sessionStorage.getItem('notebridge-token') ?? '';
  const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}') as { token?: string; names?: string[] };
  const names = [...(kept.token === token ? (kept.names ?? []) : []), name].slice(-50);
  sessionStorage.setItem(storageKey, JSON.stringify({ token, names }));
  for (const each of names) addOwnName(each);
}
