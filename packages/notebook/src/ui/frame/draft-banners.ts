import type { Commands } from '../commands.js';
import { nameOf } from '../names.js';
import type { Drafts } from '../state/drafts.js';
import type { Store } from '../state/store.js';
import type { Banner, Banners } from './banners.js';

/** Text of the person that its cell does not take any more. */
export function startDraftBanners(drafts: Drafts, store: Store, banners: Banners, commands: Commands): void {
  let isBusy = false;
  drafts.on((event) => {
    if (event.type === 'refused') banners.set('complaint', { kind: 'error', text: event.message, closes: true, cellId: event.cellId });
    if (event.type === 'pending' && (drafts.orphans.length > 0 || banners.has('orphan'))) banners.set('orphan', toBanner());
  });

  function toBanner(): Banner | undefined {
    const last = drafts.orphans.at(-1);
    if (!last) return undefined;
    const [what, where] = drafts.orphans.length > 1 ? [`${drafts.orphans.length} cells`, 'new cells'] : ['the cell', 'a new cell'];
    const text = last.by
      ? `${nameOf(last.by)} deleted ${what} in which you were typing.`
      : `The notebook does not have ${what} in which you were typing any more.`;
    const action = { text: `Put my text into ${where}`, act: () => void put(), isMain: true };
    return { kind: 'warning', text, actions: [action], closes: () => drafts.drop(drafts.orphans) };
  }

  /** Each text is kept until the notebook has it. */
  async function put(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    for (const orphan of drafts.orphans) {
      if (await commands.insert(store.cells.length, 'code', 'edit', orphan.text)) drafts.drop([orphan]);
    }
    isBusy = false;
  }
}
