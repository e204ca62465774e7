/** Versions opened by `initialize`, oldest first. 2024-10-07 is what early pages speak. */
export const legacyVersions = ['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

/** The newest legacy version: answered to an agent that asks for one we do not know, as the spec wants. */
export const latestLegacyVersion = '2025-11-25';

/** What is offered to a page: the version every page seen so far speaks. */
export const pageVersionOffered = '2025-06-18';

/** Stateless versions, named in each request. */
export const modernVersions = ['2026-07-28'] as const;

/** `legacy`: a session opened by `initialize`. `modern`: every request says what it needs. */
export type Era = 'legacy' | 'modern';

export function isLegacyVersion(version: unknown): version is string {
  return typeof version === 'string' && (legacyVersions as readonly string[]).includes(version);
}

export function isModernVersion(version: unknown): version is string {
  return typeof version === 'string' && (modernVersions as readonly string[]).includes(version);
}
