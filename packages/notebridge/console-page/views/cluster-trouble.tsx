import { clock, lines, oneLine } from '../format.js';
import { State, Words } from '../parts.js';
import type { ClusterReport } from '../wire.js';

const words: { readonly [state: string]: string } = {
  joined: 'serving',
  joining: 'not joined yet',
  cut_off: 'without NATS',
  lost: 'not joined',
  refused: 'not joined',
  draining: 'draining',
};

/** How the hub of this page stands to its cluster. */
export function stateOfThis({ state }: ClusterReport): string {
  return words[state] ?? state;
}

/** True while what is said of other hubs is what was known last. */
export function isOld({ state }: ClusterReport): boolean {
  return state === 'lost' || state === 'cut_off';
}

/** What is wrong with the place of this hub in its cluster, and what that means; nothing while all is well. */
export function ClusterTrouble({ cluster, href }: { cluster: ClusterReport | undefined; href?: string }) {
  if (cluster === undefined || cluster.text === null) return null;
  const { name, since, text, state } = cluster;
  return (
    <li class="card" data-tone={state === 'draining' || state === 'joining' ? 'busy' : 'bad'}>
      <h3>
        The cluster {oneLine(name)} <State name={stateOfThis(cluster)} />
      </h3>
      <p>
        <Words text={lines(text)} />
      </p>
      <p class="soft">
        Since {clock(since)}.{isOld(cluster) ? ' Other hubs, and what runs there, are shown as they were known last.' : ''}
      </p>
      {href === undefined ? null : (
        <p class="actions">
          <a class="button" href={href}>
            The hubs
          </a>
        </p>
      )}
    </li>
  );
}
