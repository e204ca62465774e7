import type { Principal } from '@notebridge/protocol/core/principal';
import { withoutLastLines } from '@notebridge/protocol/util/with-last-lines';

/** Servers as this caller may see them: who only watches is told why one failed, and not what it printed last, which may be anything that it was sent. */
export function reportFor<Report extends { servers: readonly { reason: string | null }[] }>(principal: Principal, report: Report): Report {
  if (principal.kind === 'owner') return report;
  const shown = (reason: string | null): string | null => (reason === null ? null : withoutLastLines(reason));
  return { ...report, servers: report.servers.map((server) => ({ ...server, reason: shown(server.reason) })) };
}
