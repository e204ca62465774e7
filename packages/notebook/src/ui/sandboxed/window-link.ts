import type { FromWidgets } from './widgets/widget-messages.js';

/** To the window, from every sandboxed page. */
export type SandboxedMessage =
  | { readonly type: 'ready' | 'unable' }
  | { readonly type: 'height'; readonly height: number }
  | { readonly type: 'picture'; readonly picture: string };

/** A window may grant less. Milliseconds. */
const heightMs = 1000;

const { parent } = window;

export function sayToWindow(message: SandboxedMessage | FromWidgets): void {
  parent.postMessage(message, '*');
}

/** Takes messages of the window, and of nobody else. Returns the function that ends it. */
export function onWindowMessage(listener: (data: unknown) => void): () => void {
  const receive = ({ source, data }: MessageEvent<unknown>) => source === parent && listener(data);
  addEventListener('message', receive);
  return () => removeEventListener('message', receive);
}

/** Tells the window how high the page is, now and whenever that changes. */
export function followHeight(): void {
  // A bar below what is wider than the page takes some of its height.
  const barPx = () => Math.max(0, innerHeight - document.documentElement.clientHeight);
  const sizes = new ResizeObserver(() => sayToWindow({ type: 'height', height: Math.ceil(document.body.scrollHeight) + barPx() }));
  sizes.observe(document.body);
}

/** Tells the window how high the page has to be, which what it shows fills; `begin` is called when it is, or does not come to be. */
export function keepHeight(heightPx: number, begin: () => void): void {
  document.documentElement.classList.add('filled');
  sayToWindow({ type: 'height', height: heightPx });
  const stop = new AbortController();
  const go = () => {
    stop.abort();
    clearTimeout(timer);
    begin();
  };
  const timer = setTimeout(go, heightMs);
  addEventListener('resize', () => innerHeight >= heightPx - 1 && go(), { signal: stop.signal });
}
