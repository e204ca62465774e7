import type { Commands } from '../commands.js';
import type { Store } from '../state/store.js';
import type { Banner } from './banners.js';
import { type StatusBannersOptions, startLinkBanner } from './link-banner.js';

const found = { changed: 'was changed by another program', removed: 'was removed', invalid: 'is no notebook any more' } as const;

/** Connection, file and kernel: what a person has to know or decide before the work can go on. */
export function startStatusBanners(options: StatusBannersOptions): void {
  const { store, banners, commands } = options;
  startLinkBanner(options);
  // Nothing can be asked of a host that is not there.
  const whileThere = (banner: Banner | undefined) => (store.link.kind === 'open' ? banner : undefined);
  store.follow(['reset', 'file', 'link'], () => banners.set('file', whileThere(fileBanner(store, commands))));
  store.follow(['reset', 'kernel', 'link'], () => banners.set('kernel', whileThere(kernelBanner(store, commands))));
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
