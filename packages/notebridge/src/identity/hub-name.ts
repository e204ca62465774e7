/** The name of a hub that was given none. Generated packages look for this one. */
export const usualHubName = 'hub';

/** Names of hubs: lower case, since some file systems do not tell more apart. */
export const hubNamePattern = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** The environment variable with the hub that a command is to talk to, as `--hub`. */
export const hubVariable = 'NOTEBRIDGE_HUB';
