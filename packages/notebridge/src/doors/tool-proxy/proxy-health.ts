import type { ServerStatus } from '../../core/tool-server.js';
import type { ToolProxy } from './tool-proxy-context.js';

/** Reports that the hub can serve: a client that gets this answer has reached it. */
export async function proxyHealth(): Promise<{ status: string }> {
  return { status: 'ok' };
}

export interface Readiness {
  /**
   * `draining` once the hub hands over; `starting` until the servers of its start are there or given up, at most `serversReadyMs`: of these two
   * it is not ready. Else `degraded` when a server is down, or `ok`.
   */
  status: 'ok' | 'degraded' | 'starting' | 'draining';
  servers: { name: string; status: ServerStatus; since: number; restarts: number; in_flight: number; reason: string | null }[];
}

/** The status of every server, for operators. */
export function proxyReadiness(proxy: ToolProxy): Readiness {
  const servers = proxy.servers.all().map(({ name, state }) => ({
    name,
    status: state.status,
    since: state.since,
    restarts: state.restarts,
    in_flight: state.inFlight,
    reason: state.reason ?? null,
  }));
  const has = (...wanted: ServerStatus[]): boolean => servers.some(({ status }) => wanted.includes(status));
  if (proxy.isDraining()) return { status: 'draining', servers };
  if (isBooting(proxy)) return { status: 'starting', servers };
  return { status: has('failed', 'restarting') ? 'degraded' : 'ok', servers };
}

/** Over once for all: no server that is slow, comes later or starts again takes a hub out of service. Lazy ones are started by a caller. */
function isBooting({ boot, servers, limits, now }: ToolProxy): boolean {
  if (boot.isOver) return false;
  const isWaitedFor = servers
    .all()
    .some(({ status, isLazy, isPerAgent }) => status === 'starting' && isLazy !== true && isPerAgent !== true);
  boot.isOver = !isWaitedFor || now() - boot.beganMs >= limits.serversReadyMs;
  return !boot.isOver;
}
