import type { Store } from '../state/store.js';
import type { Banners } from './banners.js';

/** When another program has opened the notebook again: that the kernel is a new one, and what its code may do where that is something else now. */
export function followReopening(store: Store, banners: Banners): void {
  let [life, limits] = ['', ''];
  let hasRun = false;
  store.on(({ type }) => {
    hasRun ||= type === 'run';
  });
  store.follow(['reset', 'choice'], () => {
    const before = { life, limits };
    [life, limits] = [store.life, limitsOf(store)];
    if (before.life === '' || before.life === life) return;
    const now =
      before.limits === limits || !store.choice ? '' : ` Its kernel is now: ${store.choice.displayName}. ${store.choice.isolation}`;
    // A run that no file has yet counts too.
    if (now === '' && !hasRun && store.cells.every(({ executionCount }) => executionCount === null)) return;
    hasRun = false;
    const text = `Notebridge was started again, with a new kernel: variables are gone.${now}`;
    banners.set('reopened', { kind: 'info', text, closes: true });
  });
}

/** However the kernel was named. */
function limitsOf({ choice }: Store): string {
  const words = choice?.options ?? [];
  return JSON.stringify([choice?.id, words.filter((word, at) => word !== '--kernel' && words[at - 1] !== '--kernel')]);
}
