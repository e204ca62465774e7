import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';

/** What a caller's head is compared with, letter by letter: there are no patterns. */
export interface AllowedNames {
  allowHosts?: readonly string[] | undefined;
  allowOrigins?: readonly string[] | undefined;
}

/** A `Host` that a client can send: a name, an IPv4 address or one of IPv6 in brackets, with or without a port. */
const host = /^(?:[a-z\d_](?:[a-z\d_.-]*[a-z\d_.])?|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
/** An `Origin` that a browser can send. */
const origin = /^(?:[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+|null)$/i;

/** @throws BridgeError `bad_usage` for one that no caller can send, which would let nobody in and look as if it let in all. */
export function assertAllowedNames({ allowHosts = [], allowOrigins = [] }: AllowedNames): void {
  for (const name of allowHosts)
    if (!host.test(name)) throw refused('--allow-host', name, 'one host name as callers dial it, such as "hub.example.org"');
  for (const name of allowOrigins)
    if (!origin.test(name))
      throw refused('--allow-origin', name, 'one origin as browsers send it, without a path, such as "https://app.example.org"');
}

function refused(option: string, name: string, wanted: string): BridgeError {
  return new BridgeError(
    'bad_usage',
    `${option} ${quote(name)} cannot be used: it takes ${wanted}; there are no patterns. Give the option once for each.`,
  );
}
