import type { ServerStatus } from '../../core/tool-server.js';
import type { ToolProxy } from './tool-proxy-context.js';

/** Reports that the hub can serve: a client that gets this answer has reached it. */
export async function proxyHealth(): Promise<{ status: string }> {
  return { status: 'ok' };
}

export interface Readiness {
  /** `draining` once the hub hands over, `starting` while a server starts for the first time, `degraded` when one is down, else `ok`. */
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
  return { status: has('starting') ? 'starting' : has('failed', 'restarting') ? 'degraded' : 'ok', servers };
}
