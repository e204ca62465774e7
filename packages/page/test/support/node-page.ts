import { WebSocket } from 'ws';
import { createPageSession, type PageSession, type PageSessionOptions, type PageStorage } from '../../src/index.js';

/** A browser says where a page comes from; in Node we do. */
export function socketWithOrigin(origin: string): NonNullable<PageSessionOptions['WebSocket']> {
  return class extends WebSocket {
    constructor(url: string, protocols: string) {
      super(url, protocols, { origin });
    }
  };
}

/** A tab's `sessionStorage`. */
export function createMemoryStorage(): PageStorage & { readonly items: Map<string, string> } {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

/** The address bar of a tab. */
export function createAddressBar(href: string): {
  location: URL;
  history: { replaceState(state: unknown, unused: string, url: string): void };
} {
  const location = new URL(href);
  return {
    location,
    history: {
      replaceState: (_state, _unused, url) => {
        location.href = new URL(url, location).href;
      },
    },
  };
}

/** A page in Node whose person agrees to everything, and which tries again at once. */
export function createNodePage(options: Partial<PageSessionOptions> = {}): PageSession {
  return createPageSession({
    name: 'test-page',
    version: '1.0.0',
    tools: [],
    WebSocket: socketWithOrigin('https://page.example'),
    consent: () => true,
    reconnect: { firstMs: 20, maxMs: 100 },
    ...options,
  });
}
