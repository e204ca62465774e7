import type { ServerStatus } from '@notebridge/protocol/core/tool-server';
import type { HubPlace } from '../hub-place.js';
import type { ToolProxy } from './tool-proxy-context.js';

export const challengePattern = /^[A-Za-z0-9_-]{16,256}$/;

/** Reports that the hub can serve: a client that gets this answer has reached it. */
export async function proxyHealth(): Promise<{ status: string }> {
  return { status: 'ok' };
}

/** Whether a hub is to be sent calls, and what each of the things that it depends on says. No name of a server is in it. */
export interface ReadyCheck {
  name: 'drain' | 'boot' | 'cluster' | 'servers';
  ready: boolean;
  text: string;
}

export interface Readiness {
  /**
   * Not ready: `draining` once the hub hands over; `starting` until the servers of its start are there or given up, and it has joined its cluster, at
   * most `serversReadyMs`; `cut_off` while it alone has lost its place in the cluster. Else `degraded` when a server is down or there is no place in the
   * cluster, or `ok`.
   */
  status: 'ok' | 'degraded' | 'starting' | 'draining' | 'cut_off';
  checks: ReadyCheck[];
  servers: { name: string; status: ServerStatus; since: number; restarts: number; in_flight: number; reason: string | null }[];
}

/** Whether the hub is to be sent calls, and the status of every server, for operators. */
export function proxyReadiness(proxy: ToolProxy): Readiness {
  const all = proxy.servers.all();
  const servers = all.map(({ name, state }) => ({
    name,
    status: state.status,
    since: state.since,
    restarts: state.restarts,
    in_flight: state.inFlight,
    reason: state.reason ?? null,
  }));
  const down = servers.filter(({ status }) => status === 'failed' || status === 'restarting').length;
  const late = all.filter(({ state }) => state.isLate === true).length;
  const place = proxy.cluster?.place;
  const isDraining = proxy.isDraining();
  const isStarting = isBooting(proxy);
  const isCutOff = place === 'lost_alone' || place === 'refused';
  const checks: ReadyCheck[] = [
    { name: 'drain', ready: !isDraining, text: isDraining ? 'The hub ends, and takes no more calls.' : 'The hub is not ending.' },
    {
      name: 'boot',
      ready: !isStarting,
      text: isStarting
        ? `What starts with the hub is not there yet; it is waited for ${proxy.limits.serversReadyMs / 1000} s at most.`
        : 'The start is over.',
    },
    ...(place === undefined ? [] : [{ name: 'cluster' as const, ready: !isCutOff, text: textOfPlace[place] }]),
    {
      name: 'servers',
      ready: true,
      text: `${servers.length} servers, ${down} down, ${late} slow to start. None of them takes the hub out of service.`,
    },
  ];
  const isDegraded = down > 0 || (place !== undefined && place !== 'held');
  const wrong = isDraining ? 'draining' : isStarting ? 'starting' : isCutOff ? 'cut_off' : undefined;
  return { status: wrong ?? (isDegraded ? 'degraded' : 'ok'), checks, servers };
}

/** Whether the hub is to be sent calls. */
export function isReady({ status }: Readiness): boolean {
  return status === 'ok' || status === 'degraded';
}

const textOfPlace: Record<HubPlace, string> = {
  held: 'This hub has its place in the cluster.',
  joining: 'This hub has not joined its cluster yet: it serves its own callers, and refuses grants.',
  refused: 'This hub does not join its cluster until it is started again: see its log.',
  lost: 'This hub has lost its place in the cluster, and no other says that it has one: it goes on for its own callers, and refuses grants.',
  lost_alone: 'This hub has lost its place in the cluster, and others have theirs: call those.',
};

/** Over once for all: no server that is slow, comes later or starts again takes a hub out of service. Lazy ones are started by a caller. */
function isBooting({ boot, servers, limits, cluster, now }: ToolProxy): boolean {
  if (boot.isOver) return false;
  const isWaitedFor = servers
    .all()
    .some(({ status, isLazy, isPerAgent }) => status === 'starting' && isLazy !== true && isPerAgent !== true);
  boot.isOver = (!isWaitedFor && cluster?.place !== 'joining') || now() - boot.beganMs >= limits.serversReadyMs;
  return !boot.isOver;
}
