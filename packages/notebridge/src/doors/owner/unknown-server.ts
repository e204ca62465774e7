import { didYouMean } from '@notebridge/kit/did-you-mean';
import { BridgeError } from '../../core/errors.js';
import type { ToolServers } from '../../core/tool-server.js';
import { quote } from '../../util/quote.js';

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
