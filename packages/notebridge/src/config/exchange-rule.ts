/** Whose signed tokens of another issuer are taken for a grant, and what such a grant may do. */
export interface ExchangeRule {
  /** The exact claim `iss`: of a Kubernetes cluster usually `https://kubernetes.default.svc.cluster.local`. */
  issuer: string;
  /** Must be in the claim `aud`: a token made for another audience is refused. */
  audience: string;
  /** The exact claim `sub`: `system:serviceaccount:NAMESPACE:NAME`. */
  subject: string;
  /** The file with the issuer's public keys (a JSON Web Key Set). Absolute. Anyone who can write it can get grants. */
  keys: string;
  allow: string[];
  readOnly: boolean;
  ttlMs: number;
  calls?: number | undefined;
  perMinute?: number | undefined;
  concurrent?: number | undefined;
}
