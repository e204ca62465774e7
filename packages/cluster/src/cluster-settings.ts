/** How a hub joins a cluster. Paths are absolute. */
export interface ClusterSettings {
  /** Servers of NATS: `nats://`, `tls://`, or `host:port`. A user and password, or a token, may stand in them. */
  urls: readonly string[];
  /** Hubs of one name share the work. A part of the names of what they have at NATS: `A-Z a-z 0-9 - _`. */
  name: string;
  /** A file with credentials: `.creds`, the seed of an nkey, `user:password`, or a token. */
  credentials?: string | undefined;
  tls?: ClusterTls | undefined;
  /** A file with the secret by which hubs know one another's messages. Undefined: `cluster-key` in the state folder. */
  key?: string | undefined;
  /** What people call this hub. Undefined: the name of the machine. */
  hubName?: string | undefined;
  /** Servers that keep each entry. Undefined: three if the cluster of NATS has them, else one. */
  replicas?: number | undefined;
  /** How long calls that run may still end when the hub ends. Milliseconds. */
  drainMs: number;
  /** False: calls are audited in the file of each hub alone. */
  audit: false | ClusterAudit;
}

/** Files, each in PEM. */
export interface ClusterTls {
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
}

/** What the audit of all hubs keeps at NATS: the oldest goes first. */
export interface ClusterAudit {
  maxDays: number;
  maxBytes: number;
}

export const defaultClusterName = 'notebridge';
export const defaultDrainMs = 20_000;
export const defaultClusterAudit: ClusterAudit = { maxDays: 30, maxBytes: 1_073_741_824 };

/** True for what NATS takes as the address of a server. */
export function isNatsUrl(text: string): boolean {
  const url = text.includes('://') ? text : `nats://${text}`;
  if (!/^(nats|tls):\/\/[^\s,]+$/.test(url) || !URL.canParse(url)) return false;
  const { hostname, pathname, search, hash, username, password } = new URL(url);
  // With a "#", "?" or "/" in a password, what stands before it would be taken for the name of a machine.
  return hostname !== '' && /^\/?$/.test(pathname) && search === '' && hash === '' && isEscaped(username) && isEscaped(password);
}

/** The settings with these servers of NATS in place of those that they name; with none, as they are. */
export function withClusterUrls(settings: ClusterSettings | undefined, urls: readonly string[] | undefined): ClusterSettings | undefined {
  if (urls === undefined || urls.length === 0) return settings;
  return { ...(settings ?? { name: defaultClusterName, drainMs: defaultDrainMs, audit: defaultClusterAudit }), urls };
}

function isEscaped(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
