import { shellWord } from '@notebridge/system/starts/shell-word';
import type { Commands } from '../commands.js';
import { copyText } from '../copy-text.js';
import type { HostConnection } from '../link/connection.js';
import { newLinkAdvice } from '../link/token.js';
import { nameOf } from '../names.js';
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

/** Connection, file, kernel and what was typed: what a person has to know or decide before the work can go on. */
export function startStatusBanners(options: StatusBannersOptions): void {
  const { store, banners, commands } = options;
  startLinkBanner(options);
  followReopening(store, banners);
  startDraftBanners(options);
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

/** A connection that is back by then has only been interrupted: nobody needs to do anything. Milliseconds. */
const patienceMs = 4000;

/** What has become of the connection, and what a person can do. */
function startLinkBanner({ store, banners, connection, drafts }: StatusBannersOptions): void {
  let isLong = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = () => banners.set('link', toBanner());
  store.follow(['reset', 'link'], () => {
    clearTimeout(timer);
    isLong = false;
    if (store.link.kind !== 'open' && store.link.kind !== 'connecting')
      timer = setTimeout(() => {
        isLong = true;
        show();
      }, patienceMs);
    show();
  });
  drafts.on(({ type }) => type === 'pending' && show());

  function toBanner(): Banner | undefined {
    const { link } = store;
    if (link.kind === 'open' || link.kind === 'connecting') return undefined;
    const actions = [
      ...(drafts.isEmpty ? [] : [{ text: 'Copy my text', act: () => void copyText(textOf(drafts)) }]),
      { text: 'Try now', act: () => connection.open() },
    ];
    const command = commandOf(store);
    const again = command === undefined ? '' : ' To go on, start it again in a terminal: this window goes on by itself.';
    if (link.kind === 'foreign') {
      const text = `Another program answers at this address now, or another notebook: it was sent nothing.${keptText()}${again} If it does not, open the address that it shows.`;
      return { kind: 'error', text, command, actions };
    }
    if (link.kind === 'ended') {
      const lost = drafts.isEmpty ? '' : ' What you typed last is kept in this window, and is not in the file.';
      const text = `The notebook was closed.${fateOf(store)}${lost}${again}`;
      return { kind: 'warning', text, command, actions };
    }
    if (link.kind === 'lost' && !link.wasOpen) {
      const text = `The notebook cannot be reached. If Notebridge is still running, this window may be of one that ended. ${newLinkAdvice}`;
      return { kind: 'error', text, actions };
    }
    if (!isLong) return { kind: 'warning', text: `The connection to the notebook is lost; trying again.${keptText()}`, actions: [] };
    const text = `The notebook does not answer; it is tried again and again. If Notebridge has ended, start it again in a terminal: this window goes on by itself.${keptText()}`;
    return { kind: 'warning', text, command, actions };
  }

  function keptText(): string {
    return drafts.isEmpty ? '' : ' What you typed is kept here and sent then.';
  }
}

/** What has become of the changes, as far as the host could say before it ended. */
function fateOf({ file, title }: Store): string {
  if (file.kind === 'saved') return ` It is saved in ${title}.`;
  if (file.kind === 'none') return ' It was in no file, so it is gone when you close this window.';
  return ` Not all of it was saved in ${title} then; as it ended, Notebridge wrote the rest into it, or into a file "….unsaved-…" beside it.`;
}

function textOf(drafts: Drafts): string {
  return drafts
    .save()
    .filter(({ base, text }) => base !== text)
    .map(({ text }) => text)
    .join('\n\n');
}

/** Opens it again with the kernel and the limits that it had. */
function commandOf({ path, choice }: Store): string | undefined {
  if (path === null) return undefined;
  const platform = /^[a-z]:\\/i.test(path) ? 'win32' : 'linux';
  return ['notebridge notebook', ...[path, ...(choice?.options ?? [])].map((word) => shellWord(word, platform))].join(' ');
}

/** When another program has opened the notebook again: that the kernel is a new one, and what its code may do where that is something else now. */
function followReopening(store: Store, banners: Banners): void {
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

/** Text of the person that its cell does not take any more. */
function startDraftBanners({ drafts, store, banners, commands }: StatusBannersOptions): void {
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
