import type { Store } from '../state/store.js';

/** While there is no host, the buttons do nothing, and say why. */
export function switchWithLink(buttons: readonly HTMLButtonElement[], store: Store): void {
  const tips = buttons.map(({ title }) => title);
  store.follow(['reset', 'link'], () => {
    const { offReason } = store;
    for (const [at, each] of buttons.entries()) {
      each.disabled = offReason !== undefined;
      each.title = offReason ?? tips[at] ?? '';
    }
  });
}
