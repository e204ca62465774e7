import { Option } from 'commander';
import { isNatsUrl } from '../../config/cluster-settings.js';
import { BridgeError } from '../../core/errors.js';

/** `--cluster`: which NATS. */
export function clusterOption(flags: '--cluster <urls>' | '--cluster [urls]', description: string): Option {
  return new Option(flags, description).argParser(parseClusterUrls);
}

function parseClusterUrls(text: string): string[] {
  const urls = text.split(',').map((url) => url.trim());
  const wrong = urls.find((url) => !isNatsUrl(url));
  if (wrong === undefined) return urls;
  // It may hold a password, and commander would print it.
  const advice =
    'is an address of NATS like "nats://host:4222", or several with "," between them (in a password, "%", "#", "?" and "/" as "%25", "%23", "%3F" and "%2F"). What was given is not shown.';
  throw new BridgeError('bad_usage', `The argument of --cluster (or NOTEBRIDGE_CLUSTER) ${advice}`);
}
