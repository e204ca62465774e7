import { messageOf } from '@notebridge/protocol/util/message-of';
import { el } from '../dom.js';

/** In place of what cannot be drawn. Nothing else is lost by it. */
export function cannotShow(what: string, error: unknown): HTMLElement {
  return el('div', { class: 'not-loaded' }, `${what} cannot be shown: ${reasonOf(error)}.`);
}

function reasonOf(error: unknown): string {
  // What a browser says of a nest that is too deep for it helps nobody.
  if (error instanceof RangeError && /call stack|recursion/i.test(error.message)) return 'it is nested too deeply';
  return messageOf(error).slice(0, 300).replace(/\.$/, '') || 'it is not what it says it is';
}
