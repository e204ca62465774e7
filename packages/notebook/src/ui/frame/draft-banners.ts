import type { Commands } from '../commands.js';
import { nameOf } from '../names.js';
import type { Drafts } from '../state/drafts.js';
import type { Store } from '../state/store.js';
import type { Banners } from './banners.js';

/** Text of the person that its cell does not take any more. */
export function startDraftBanners(drafts: Drafts, store: Store, banners: Banners, commands: Commands): void {
  let orphans: string[] = [];
  drafts.on((event) => {
    if (event.type === 'refused') banners.set('complaint', { kind: 'error', text: event.message, closes: true, cellId: event.cellId });
    if (event.type !== 'orphan') return;
    // A banner that was put away took its texts along.
    if (!banners.has('orphan')) orphans = [];
    orphans.push(event.text);
    const put = async () => {
      banners.set('orphan', undefined);
      for (const text of orphans) await commands.insert(store.cells.length, 'code', 'edit', text);
    };
    const [what, where] = orphans.length > 1 ? [`${orphans.length} cells`, 'new cells'] : ['the cell', 'a new cell'];
    const text = event.by
      ? `${nameOf(event.by)} deleted ${what} in which you were typing.`
      : `The notebook does not have ${what} in which you were typing any more.`;
    const action = { text: `Put my text into ${where}`, act: () => void put(), isMain: true };
    banners.set('orphan', { kind: 'warning', text, actions: [action], closes: true });
  });
}
