import { BridgeError } from '@notebridge/protocol/core/errors';
import type { BrowserResult } from '@notebridge/system/processes/browser';
import { openAddress } from '../identity/open-address.js';
import { colabProfile } from '../notebooks/profiles/colab.js';
import type { PageProfile } from '../notebooks/profiles/profile.js';

export interface PageOpenerOptions {
  profile?: PageProfile | undefined;
  /** Origins that may be opened besides the profile's. */
  allowOrigins?: readonly string[] | undefined;
  /** Opens a URL for the person, and looks for a failure for `timeoutMs`. Default: the system's browser. */
  open?: ((url: string, timeoutMs: number) => Promise<BrowserResult>) | undefined;
}

export interface OpenRequest {
  token: string;
  port: number;
  /** Default: the profile's page. */
  notebookUrl?: string | undefined;
  /** How long a launcher is watched for a failure, in milliseconds. */
  timeoutMs: number;
}

/** Where a page was to be opened, and what became of it. */
export interface OpenReport {
  /** The whole URL, token included: for the person's eyes. */
  url: string;
  outcome: BrowserResult;
}

/** Opens pages that know their way back: the URL's fragment carries token and port, and never leaves the browser. */
export class PageOpener {
  readonly #profile: PageProfile;
  readonly #options: PageOpenerOptions;
  #openings = 0;
  #last: { url: string; token: string; notebookUrl: string | undefined } | undefined;

  constructor(options: PageOpenerOptions = {}) {
    this.#profile = options.profile ?? colabProfile;
    this.#options = options;
  }

  /** Opens the profile's page, or `notebookUrl`. Rejects with `bad_origin` for a URL that must not learn the token. */
  async open({ token, port, notebookUrl, timeoutMs }: OpenRequest): Promise<OpenReport> {
    const url = this.#urlOf(token, port, notebookUrl);
    this.#openings++;
    this.#last = { url, token, notebookUrl };
    const { open = (target, timeout) => openAddress(target, { timeoutMs: timeout }) } = this.#options;
    return { url, outcome: await open(url, timeoutMs) };
  }

  /** The address of the page that was opened last, else of the profile's, for a person who opens it by hand. */
  addressOf({ token, port }: Pick<OpenRequest, 'token' | 'port'>): string {
    return this.#last?.token === token ? this.#last.url : this.#urlOf(token, port, this.#last?.notebookUrl);
  }

  #urlOf(token: string, port: number, notebookUrl: string | undefined): string {
    const url = this.#checkedUrl(notebookUrl ?? this.#profile.defaultUrl);
    url.hash = '';
    // A browser shows the tab it has for a URL that differs in the fragment only, and that tab knows a dead port.
    if (this.#openings > 0) url.search += `${url.search === '' ? '' : '&'}notebridge=${this.#openings + 1}`;
    return `${url.href}#mcpProxyToken=${token}&mcpProxyPort=${port}`;
  }

  /** A link to a notebook, as one on Drive or GitHub, is opened where the page shows it. */
  #checkedUrl(link: string): URL {
    const text = this.#profile.findUrl?.(link) ?? link;
    const allowed = [...this.#profile.origins, ...(this.#options.allowOrigins ?? [])];
    if (URL.canParse(text)) {
      const url = new URL(text);
      const hasCredentials = url.username !== '' || url.password !== '';
      // Not `url.origin`: that of a "blob:" URL is the origin inside.
      if (allowed.includes(`${url.protocol}//${url.host}`) && !hasCredentials) return url;
    }
    throw new BridgeError(
      'bad_origin',
      `"${text}" was not opened: the URL carries an access token, so it must be on ${allowed.join(' or ')}.`,
      {
        data: { notebook_url: text, allowed },
      },
    );
  }
}
