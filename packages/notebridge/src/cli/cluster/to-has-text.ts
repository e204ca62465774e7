import type { AskedHub, ResourceOfHub } from '../../assembly/cluster/look-at-cluster.js';

/** Of each kind: ten thousand pages make no line. */
const mostNamed = 20;

/** What a hub has, in one line. Its own servers that do not run are left out: every hub has all of the config. */
export function toHasText({ has, more }: Pick<AskedHub, 'has' | 'more'>): string {
  const shown = has.filter(({ kind, epoch, about }) => kind !== 'server' || epoch !== undefined || about.status !== 'stopped');
  const kinds = new Map<string, ResourceOfHub[]>([
    ['server', []],
    ['notebook', []],
  ]);
  for (const one of shown) {
    const known = kinds.get(one.kind);
    if (known === undefined) kinds.set(one.kind, [one]);
    else known.push(one);
  }
  const unsaid: Record<string, number> = { server: more.servers, notebook: more.notebooks };
  return [...kinds]
    .flatMap(([kind, all]) => {
      const left = Math.max(0, all.length - mostNamed) + (unsaid[kind] ?? 0);
      return [...all.slice(0, mostNamed).map(toText), ...(left === 0 ? [] : [`${left} more ${kind}s`])];
    })
    .join(', ');
}

function toText({ kind, name, about: { status } }: ResourceOfHub): string {
  const state = kind === 'server' && typeof status === 'string' && status !== 'running' ? ` (${status})` : '';
  return `${kind} ${name}${state}`;
}
