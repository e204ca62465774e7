import { setOwnNames } from '../names.js';

const storageKey = 'notebridge-names';

/** Each connection has a name of its own: what this tab did before a reload stays its own. `life`: another host counts anew. */
export function keepOwnName(name: string, life: string): void {
  const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}') as { life?: string; names?: string[] };
  const names = [...(kept.life === life ? (kept.names ?? []) : []), name].slice(-50);
  sessionStorage.setItem(storageKey, JSON.stringify({ life, names }));
  setOwnNames(names);
}
