import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ToolServers } from '@notebridge/protocol/core/tool-server';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { quote } from '@notebridge/protocol/util/quote';

/** The error that says which servers there are. */
export function unknownServer(name: string, servers: ToolServers, noServers = 'the config names none'): BridgeError {
  const names = servers.all().map((server) => server.name);
  if (names.length === 0) {
    return new BridgeError('unknown_server', `There is no server ${quote(name)}: ${noServers}. Add it under "mcpServers".`);
  }
  const meant = didYouMean(name, names);
  const hint = meant === undefined ? `There are: ${names.join(', ')}.` : `Did you mean "${meant}"?`;
  return new BridgeError('unknown_server', `There is no server ${quote(name)}. ${hint}`);
}
