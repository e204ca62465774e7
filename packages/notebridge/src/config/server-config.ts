import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { Exposure, NameStyle, Placement } from '@notebridge/protocol/core/tool-server';

/** Which calls a person is asked about: none; of tools that the entry names; of those that may destroy something; of all that may write. */
export type ApprovalMode = 'none' | 'listed' | 'destructive' | 'writes';

/** What both kinds of upstream have in common. */
export interface UpstreamSettings {
  name: string;
  /** The environment variables that the entry names, each with the text that it stands for. Undefined: none. */
  variables?: Readonly<Record<string, string>> | undefined;
  disabled: boolean;
  /** Undefined: `limits.callTimeoutMs`. */
  timeoutMs?: number | undefined;
  tools: {
    allow?: string[] | undefined;
    deny: string[];
    /** Which tools a person is asked about, besides those that `approve` means. */
    approve?: string[] | undefined;
  };
  /** Undefined: as for all servers; `listed` if `tools.approve` names some and no server is asked about. */
  approve?: ApprovalMode | undefined;
  /** False: what its tools say of themselves counts for nothing where rights hang on it. Default true. */
  trusted?: boolean | undefined;
  /** Undefined: `code` in code mode, else `direct`. */
  expose?: Exposure | undefined;
  names: NameStyle;
  lazy: boolean;
  description?: string | undefined;
  instances: 'shared' | 'per-agent';
  /** In a cluster. */
  placement: Placement;
  era: 'auto' | Era;
  maxInFlight: number;
  /** What ties a question of a server of the legacy era to a call: its stream (over HTTP), or that there is one call at a time. */
  questions: 'auto' | 'serial' | 'none';
}

/** How we become known to the authorization server of a remote MCP server. Everything may be left out: then it is found out. */
export interface UpstreamAuth {
  /** `client_credentials`: the hub logs itself in; else a person does, with `notebridge login`. */
  grant: 'authorization_code' | 'client_credentials';
  /** The name under which we are registered there. Undefined: by `clientMetadataUrl`, else we register ourselves. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** A file with our private key (PKCS #8, PEM), in place of a secret. Absolute. */
  privateKey?: string | undefined;
  /** What that key signs with. */
  algorithm: string;
  /** Address of a document that says who we are, where the authorization server reads such. */
  clientMetadataUrl?: string | undefined;
  /** What is asked for, separated by spaces. Undefined: what the server names. */
  scope?: string | undefined;
  /** The only authorization server whose metadata are accepted. Undefined: the one that the MCP server names. */
  issuer?: string | undefined;
  /** The port of the loopback address to which a login comes back. Undefined: any free one. */
  redirectPort?: number | undefined;
}

/** How a remote server is reached. */
export interface RemoteAccess {
  auth?: UpstreamAuth | undefined;
  /** A file of certificates (PEM) that are trusted besides those of the system. Absolute. */
  ca?: string | undefined;
  /** URL of an HTTP proxy; `none`: without one, whatever the environment says. Undefined: as `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say. */
  proxy?: string | undefined;
}

/** An MCP server of the config: a program to start, or an address to call. */
export type ServerConfig =
  | (UpstreamSettings & { transport: 'stdio'; command: string; args: string[]; env: Record<string, string>; cwd: string | undefined })
  | RemoteServerConfig;

export type RemoteServerConfig = UpstreamSettings &
  RemoteAccess & { transport: 'http' | 'sse'; url: string; headers: Record<string, string> };
