import { confine } from './confine.js';

/** From the window: what to show. Scripts and markup run in this order. */
export interface ShowMessage {
  readonly type: 'show';
  readonly html: readonly string[];
}

/** To the window. */
export type SandboxedMessage = { readonly type: 'ready' | 'unable' } | { readonly type: 'height'; readonly height: number };

const { parent } = window;
const say = (message: SandboxedMessage) => parent.postMessage(message, '*');
const canShow = confine();
const sizes = new ResizeObserver(() => say({ type: 'height', height: Math.ceil(document.body.scrollHeight) }));

addEventListener('message', function start({ source, data }: MessageEvent<ShowMessage>) {
  if (source !== parent || data?.type !== 'show') return;
  removeEventListener('message', start);
  for (const html of data.html) document.body.append(document.createRange().createContextualFragment(html));
  sizes.observe(document.body);
});

addEventListener('DOMContentLoaded', () => say({ type: canShow ? 'ready' : 'unable' }));
