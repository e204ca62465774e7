/** An authorization server of an organisation before the door for agents: whose tokens open it, and what they allow. */
export interface DoorAuth {
  /** The exact claim `iss`, and where the metadata of the authorization server are. */
  issuer: string;
  /** The address of the door as agents dial it: what a token must be for (claim `aud`). */
  audience: string;
  /** Where the keys are. Undefined: as the metadata of the issuer say. */
  jwksUri?: string | undefined;
  /** What a scope allows. The first that a token has counts, alone. */
  scopes: DoorScope[];
}

/** What the holder of a token with this scope may do. */
export interface DoorScope {
  scope: string;
  allow: string[];
  readOnly: boolean;
  calls?: number | undefined;
  perMinute?: number | undefined;
  concurrent?: number | undefined;
}
