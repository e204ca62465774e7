import type { Tool } from '../../core/mcp.js';

/** What is known in advance of a kind of page. */
export interface PageProfile {
  readonly name: string;
  /** For texts: "Google Colab". */
  readonly title: string;
  /** Exact origins from which such a page may connect, and whose URLs may be opened with a token in the fragment. */
  readonly origins: readonly string[];
  /** The page that is opened when the caller names none. */
  readonly defaultUrl: string;
  /** The tools that such a page has, listed before any page has come. */
  readonly tools: readonly Tool[];
}
