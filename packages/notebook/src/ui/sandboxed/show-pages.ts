import { confine } from './confine.js';
import { followHeight, onWindowMessage, sayToWindow } from './window-link.js';

/** From the window: what to show. Scripts and markup run in this order. */
export interface ShowMessage {
  readonly type: 'show';
  readonly html: readonly string[];
}

const canShow = confine();

const stop = onWindowMessage((data) => {
  if ((data as Partial<ShowMessage> | null)?.type !== 'show') return;
  stop();
  for (const html of (data as ShowMessage).html) document.body.append(document.createRange().createContextualFragment(html));
  followHeight();
});

addEventListener('DOMContentLoaded', () => sayToWindow({ type: canShow ? 'ready' : 'unable' }));
