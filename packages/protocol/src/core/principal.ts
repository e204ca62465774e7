/**
 * On whose behalf a call is made, as its door has proved it. `owner`: the person whose hub this is (their own stdio process, or
 * their 0600 token file). `grant`: a holder of a grant. `anonymous`: any other caller, where `--no-auth` allows it.
 */
export type Principal =
  | { kind: 'owner' }
  | { kind: 'anonymous' }
  | {
      kind: 'grant';
      /** The public id of the grant, never its token. */
      grantId: string;
    };

export const owner: Principal = { kind: 'owner' };

/** What the principal is called in ids and keys: the same for the same one. */
export function principalKey(principal: Principal): string {
  return principal.kind === 'grant' ? `grant:${principal.grantId}` : principal.kind;
}
