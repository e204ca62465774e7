/** Whose signed tokens of another issuer are taken for a grant, and what such a grant may do. */
export interface ExchangeRule {
  /** The claim `iss`, to the letter: of a Kubernetes cluster usually `https://kubernetes.default.svc.cluster.local`. */
  issuer: string;
  /** Must be among the claim `aud`: a token that was made for somebody else is none for us. */
  audience: string;
  /** The claim `sub`, to the letter: `system:serviceaccount:NAMESPACE:NAME`. */
  subject: string;
  /** The file with the issuer's public keys (a JSON Web Key Set). Absolute. Whoever writes it can have grants. */
  keys: string;
  allow: string[];
  readOnly: boolean;
  ttlMs: number;
  calls?: number | undefined;
  perMinute?: number | undefined;
  concurrent?: number | undefined;
}
