import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import type { ServerReport } from '../../catalog/describe-servers.js';
import type { Config } from '../../config/config.js';

/** What a command that runs the servers of a config itself does with those of which a cluster has one. */
export interface LeftToCluster {
  /** The config in which they are not started. */
  config: Config;
  /** @throws BridgeError `closed` for one of them. */
  assertNotOne(server: string): void;
  /** What is said of it in place of what the config says. */
  describe(report: ServerReport): ServerReport;
}

/** Of each there is to be one, and the hubs decide which of them runs it: a command that is none of them starts none. */
export function leaveToCluster(config: Config): LeftToCluster {
  const { cluster } = config;
  const isOne = ({ placement, disabled }: Config['servers'][number]): boolean => cluster !== undefined && placement === 'one' && !disabled;
  const ones = new Set(config.servers.filter(isOne).map(({ name }) => name));
  const why = (server: string): string =>
    `The cluster ${quote(cluster?.name ?? '')} has one server ${quote(server)}, which a hub of it runs: it is not started here.`;
  return {
    config: { ...config, servers: config.servers.map((server) => (ones.has(server.name) ? { ...server, disabled: true } : server)) },
    assertNotOne: (server) => {
      if (!ones.has(server)) return;
      throw new BridgeError('closed', `${why(server)} Ask by a hub of yours, without --config: notebridge serve starts one.`);
    },
    describe: (report) => (ones.has(report.name) ? { ...report, status: 'stopped', reason: why(report.name) } : report),
  };
}
