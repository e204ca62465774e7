import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { type Paint, toDuration } from '../terminal.js';
import { onOneLine, withoutControls } from '../terminal-logger.js';

/** Of more hubs it is said how many there are. */
const mostHubs = 12;
const mostServers = 4;

const words: { readonly [state in OwnerBody<'Cluster'>['state']]: string } = {
  joined: 'joined',
  joining: 'not joined yet',
  cut_off: 'without NATS',
  lost: 'not joined',
  refused: 'not joined',
  draining: 'draining',
};

/** What is wrong with the cluster, as this hub sees it. */
export function toClusterTrouble({ state, since, text }: OwnerBody<'Cluster'>, paint: Paint): string[] {
  if (text === null) return [];
  const colour = state === 'joined' || state === 'joining' || state === 'draining' ? paint.yellow : paint.red;
  return [`${colour('cluster')}  for ${toAge(since)}: ${withoutControls(text).replaceAll('\n', '\n        ')}`];
}

/** The cluster and its hubs, a row for each. */
export function toClusterRows({ name, state, since, hubs }: OwnerBody<'Cluster'>): string[][] {
  const isOld = state === 'lost' || state === 'cut_off';
  const shown = hubs.slice(0, mostHubs).map((hub) => ['', toHubLine(hub)]);
  const rest = hubs.length - shown.length;
  return [
    [
      'Cluster',
      `${onOneLine(name)}, ${words[state]} for ${toAge(since)}; ${hubs.length} ${hubs.length === 1 ? 'hub' : 'hubs'}${isOld ? ', as known last' : ''}`,
    ],
    ...shown,
    ...(rest > 0 ? [['', `${rest} more`]] : []),
  ];
}

function toHubLine({ name, is_this: isThis, draining, servers, pages }: OwnerBody<'HubOfCluster'>): string {
  const named = servers.first.slice(0, mostServers).map((server) => onOneLine(server.name));
  const more = servers.count - named.length;
  const has = [
    ...(servers.count === 0
      ? []
      : [`${servers.count === 1 ? 'server' : 'servers'} ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]),
    ...(pages.count === 0 ? [] : [`${pages.count} ${pages.count === 1 ? 'page' : 'pages'}`]),
    ...(draining && !isThis ? ['draining'] : []),
  ];
  return `${onOneLine(name)}${isThis ? ' (this one)' : ''}${has.length === 0 ? '' : `: ${has.join('; ')}`}`;
}

function toAge(since: string): string {
  return toDuration(Date.now() - Date.parse(since));
}
