import { isJsonObject } from '@notebridge/protocol/json';

/** Where the program on this computer listens, and the token. */
export interface Address {
  readonly token: string;
  readonly port: number;
  /** Who answered there, if anybody has yet: an address that worked is worth dialling again. */
  readonly agentName?: string;
  /** A person has agreed to it in this tab. */
  readonly isAgreed?: boolean;
}

/** The used part of `sessionStorage`: it lives as long as the tab. */
export interface PageStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface PageLocation {
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

export interface PageHistory {
  readonly state?: unknown;
  replaceState(state: unknown, unused: string, url: string): void;
}

/** Takes the address out of the URL's fragment, so that no copied link, bookmark or script of the page gets it. */
export function takeFragment(location: PageLocation | undefined, history: PageHistory | undefined): Address | undefined {
  if (location === undefined) return undefined;
  const { pathname, search, hash } = location;
  const address = parseFragment(hash);
  if (address === undefined) return undefined;
  // What else stands in the fragment is the page's own.
  const rest = hash
    .replace(/^#/, '')
    .split('&')
    .filter((part) => !/^mcpProxy(Token|Port)=/.test(part));
  history?.replaceState(history.state ?? null, '', pathname + search + (rest.length > 0 ? `#${rest.join('&')}` : ''));
  return address;
}

/** What a person pastes: `<token>&<port>`, or the whole URL that the agent shows. Throws what was expected. */
export function parseEntry(text: string): Address {
  const [, token = '', port = ''] = /^\s*([^&\s]+)&(\d+)\s*$/.exec(text) ?? [];
  const address = toAddress(token, port) ?? parseFragment(text.trim().replace(/^[^#]*/, ''));
  if (address === undefined) throw new TypeError('Expected "<token>&<port>", as the agent shows it.');
  return address;
}

/** Keeps the address over a reload; a page without storage forgets it. */
export class AddressKeeper {
  readonly #storage: PageStorage | undefined;
  readonly #key: string;

  constructor(storage: PageStorage | undefined, pageName: string) {
    this.#storage = storage;
    this.#key = `notebridge:${pageName}`;
  }

  read(): Address | undefined {
    try {
      const kept: unknown = JSON.parse(this.#storage?.getItem(this.#key) ?? 'null');
      if (!isJsonObject(kept)) return undefined;
      const address = toAddress(kept.token, kept.port);
      if (address === undefined || typeof kept.agentName !== 'string') return address;
      return { ...address, agentName: kept.agentName, ...(kept.isAgreed === true && { isAgreed: true }) };
    } catch {
      return undefined;
    }
  }

  keep(address: Address): void {
    ifAllowed(() => this.#storage?.setItem(this.#key, JSON.stringify(address)));
  }

  forget(): void {
    ifAllowed(() => this.#storage?.removeItem(this.#key));
  }
}

function ifAllowed(write: () => void): void {
  try {
    write();
  } catch {
    // Full or forbidden: the page works on until it is reloaded.
  }
}

function parseFragment(hash: string): Address | undefined {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  return toAddress(params.get('mcpProxyToken'), params.get('mcpProxyPort'));
}

function toAddress(token: unknown, portText: unknown): Address | undefined {
  const port = Number(portText);
  return typeof token === 'string' && token !== '' && Number.isInteger(port) && port > 0 && port < 65_536 ? { token, port } : undefined;
}
