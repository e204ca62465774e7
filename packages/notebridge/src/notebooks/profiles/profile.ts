import type { Tool } from '@notebridge/protocol/core/mcp';

/** What is known in advance of a kind of page. */
export interface PageProfile {
  readonly name: string;
  /** For texts: "Google Colab". */
  readonly title: string;
  /** Exact origins from which such a page may connect, and whose URLs may be opened with a token in the fragment. */
  readonly origins: readonly string[];
  /**
   * True if pages of these origins know no token but the one of their URL, so that a token by which one came stays valid until the
   * slot is closed. Default false: every page may swap it for a resume token.
   */
  readonly keepsToken?: boolean;
  /**
   * `serial`: the page may ask the agent in the middle of a call (forms, sampling, roots). Nothing ties a question to a call but that
   * there is one at a time; one that was cancelled is waited for. Left out: it may ask nothing.
   */
  readonly questions?: 'serial';
  /** The page that is opened when the caller names none. */
  readonly defaultUrl: string;
  /**
   * Finds where such a page shows the notebook that a link names: on one of the origins, without a fragment, since a token is to stand there.
   * Undefined for any other link. Left out: a notebook is named by the URL of its page alone.
   */
  readonly findUrl?: (link: string) => string | undefined;
  /** For texts: the links that `findUrl` knows, as a part of a sentence. */
  readonly links?: { readonly short: string; readonly examples: string };
  /** Makes the URL of a notebook that nobody has named; the same id has the same one. Left out: it has to be named. */
  readonly newUrl?: (id: string) => string;
  /** The tools that such a page has, listed before any page has come. */
  readonly tools: readonly Tool[];
}
