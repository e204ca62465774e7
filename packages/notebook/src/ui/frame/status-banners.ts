import type { Commands } from '../commands.js';
import type { HostConnection } from '../link/connection.js';
import { newLinkAdvice } from '../link/token.js';
import type { Drafts } from '../state/drafts.js';
import type { Store } from '../state/store.js';
import type { Banner, Banners } from './banners.js';

export interface StatusBannersOptions {
  store: Store;
  banners: Banners;
  commands: Commands;
  connection: HostConnection;
  drafts: Drafts;
}

const found = { changed: 'was changed by another program', removed: 'was removed', invalid: 'is no notebook any more' } as const;

/** Connection, file and kernel: what a person has to know or decide before the work can go on. */
export function startStatusBanners({ store, banners, commands, connection, drafts }: StatusBannersOptions): void {
  store.follow(['reset', 'link'], () => banners.set('link', linkBanner()));
  // Of a host that has ended nothing can be asked for.
  const unlessEnded = (banner: Banner | undefined) => (store.link.kind === 'ended' ? undefined : banner);
  store.follow(['reset', 'file', 'link'], () => banners.set('file', unlessEnded(fileBanner(store, commands))));
  store.follow(['reset', 'kernel', 'link'], () => banners.set('kernel', unlessEnded(kernelBanner(store, commands))));

  function linkBanner(): Banner | undefined {
    const { link } = store;
    // A new attempt looks like the pause before it: a banner that comes and goes every second helps nobody.
    if (link.kind === 'open' || (link.kind === 'connecting' && store.title === '')) return undefined;
    const actions = [{ text: 'Try now', act: () => connection.open() }];
    if (link.kind === 'ended') {
      const lost = drafts.isEmpty ? '' : ' What you typed last was not sent, and is kept in this window.';
      const text = `The notebook was closed, and Notebridge does not serve it any more. What you see is its last state.${fateOf(store)}${lost}`;
      return { kind: 'warning', text, actions };
    }
    if (link.kind === 'lost' && !link.wasOpen) {
      const text = `The notebook cannot be reached. If Notebridge is still running, this window may be of one that ended. ${newLinkAdvice}`;
      return { kind: 'error', text, actions };
    }
    const kept = drafts.isEmpty ? '' : ' What you typed is kept here and sent then.';
    return { kind: 'warning', text: `The connection to the notebook is lost; trying again.${kept}`, actions };
  }
}

/** What has become of the changes, as far as the host could say before it ended. */
function fateOf({ file, title }: Store): string {
  if (file.kind === 'saved') return ` It is saved in ${title}.`;
  if (file.kind === 'none') return ' It was in no file, so it is gone when you close this window.';
  return ` Not all of it was saved in ${title} then; as it ended, Notebridge wrote the rest into it, or into a file "….unsaved-…" beside it.`;
}

function fileBanner({ file, title }: Store, commands: Commands): Banner | undefined {
  if (file.kind === 'failed') {
    return {
      kind: 'error',
      text: `The notebook could not be saved: ${file.detail}`,
      actions: [{ text: 'Save again', act: () => void commands.ask({ do: 'save' }) }],
    };
  }
  if (file.kind !== 'conflict') return undefined;
  const text = `The file ${title} ${found[file.found]} while there were changes here. ${file.detail}`.trim();
  const mine = { text: 'Keep mine', act: () => void commands.ask({ do: 'resolveConflict', keep: 'mine' }), isMain: true };
  const theirs = { text: 'Take theirs', act: () => void commands.ask({ do: 'resolveConflict', keep: 'theirs' }) };
  // There is nothing to take where the file is gone or broken.
  return { kind: 'warning', text, actions: file.found === 'changed' ? [mine, theirs] : [mine] };
}

function kernelBanner({ kernel }: Store, commands: Commands): Banner | undefined {
  if (kernel.state !== 'dead') return undefined;
  return {
    kind: 'error',
    text: 'The kernel has died; its variables are gone.',
    actions: [{ text: 'Restart kernel', act: () => void commands.ask({ do: 'restart' }), isMain: true }],
  };
}
