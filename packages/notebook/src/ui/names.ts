import type { Actor } from '../model/cell.js';
import type { JournalAction } from '../model/journal.js';
import { isWindowName } from '../viewer/protocol.js';
import { visible } from './visible.js';

/** What somebody did to a cell, before its name. */
export const verbs: { readonly [action in JournalAction]: string } = {
  insert: 'added',
  update: 'edited',
  move: 'moved',
  delete: 'deleted',
  setType: 'changed the type of',
  setMetadata: 'changed the metadata of',
  restore: 'restored',
};

/** Longer names are cut. */
const maxName = 40;
/** A name that cannot be confused with text of the window: a few plain words. */
const plainName = /^[A-Za-z][A-Za-z0-9._+-]*(?: [A-Za-z0-9._+()-]+){0,6}$/;
/** Words with which the window itself speaks of people and of its state. */
const ownWords =
  /^(?:you|your|me|i|we|no|not|none|nobody|no-one|somebody|someone|everyone|person|people|human|user|owner|admin|root|system|host|kernel|notebook|notebridge|window|browser|connected|disconnected|disconnect|connection|saved|unsaved|saving|idle|busy|dead|ended|trusted|verified|safe|read-only|error|warning|stop|run|undo|undone|changes|unknown|null|undefined)$/i;

const storageKey = 'notebridge-names';

/** The names that this window has had, one for each connection to the host: what is done under one of these, this window has done. */
let ownNames: ReadonlySet<string> = new Set();

/** Each connection has a name of its own: what this tab did before a reload stays its own. `life`: another host counts anew. */
export function keepOwnName(name: string, life: string): void {
  const kept = JSON.parse(sessionStorage.getItem(storageKey) ?? '{}') as { life?: string; names?: string[] };
  const names = [...(kept.life === life ? (kept.names ?? []) : []), name].slice(-50);
  sessionStorage.setItem(storageKey, JSON.stringify({ life, names }));
  ownNames = new Set(names);
}

/**
 * Who did something, as it is shown. What an agent calls itself is its own choice: only a plain name stands there as it is, anything
 * else in quotes and as an agent's, with what cannot be seen made visible.
 */
export function nameOf({ kind, name }: Pick<Actor, 'kind' | 'name'>): string {
  if (kind === 'agent') return agentName(name);
  if (ownNames.has(name)) return 'You';
  return isWindowName(name) ? 'Another window' : visible(name);
}

/** The same for an agent of whom no more than the name is known. */
export function agentName(name: string): string {
  const isPlain = name.length <= maxName && plainName.test(name) && !name.split(' ').some((word) => ownWords.test(word));
  if (isPlain) return name;
  if (name.trim() === '') return 'agent without a name';
  return `agent ${quoted(name, maxName)}`;
}

/** What an agent says, in quotes that it cannot end, cut after so many characters. */
export function quoted(text: string, maxLength: number): string {
  const chars = [
    ...visible(
      text
        .slice(0, 4 * maxLength)
        .replace(/[\t\n\r]/g, '⏎')
        .replace(/["“”„‟«»]/g, "'"),
    ),
  ];
  const cut = chars.length > maxLength || text.length > 4 * maxLength ? `${chars.slice(0, maxLength).join('')}…` : chars.join('');
  // Isolates: letters that run from right to left do not turn the words around them.
  return `“\u2068${cut}\u2069”`;
}

/** The same for one of several: two may have the same name. */
export function agentNameAmong(agents: readonly { readonly id: string; readonly name: string }[], id: string, name: string): string {
  const same = agents.filter((agent) => agent.name === name);
  const at = same.findIndex((agent) => agent.id === id);
  return at > 0 ? `${agentName(name)} (${at + 1})` : agentName(name);
}
