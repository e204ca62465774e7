import type { KernelAsks, KernelChoice, KernelOffer } from '../../kernels/kernel-choice.js';
import type { KernelList } from '../../viewer/protocol.js';
import type { Commands } from '../commands.js';
import { button, el, hiddenText } from '../dom.js';
import { quoted } from '../names.js';
import type { Store } from '../state/store.js';
import { visible } from '../visible.js';
import { type Banner, type Banners, yesOrNo } from './banners.js';
import { confirm, openPanel } from './dialogs.js';

/** The kernel as people know it: `Python 3.14.2 (Pyodide)`. */
export function kernelLabel({ kernel, choice }: Pick<Store, 'kernel' | 'choice'>): string {
  const { name, displayName, version } = kernel;
  if (name === 'pyodide') return version ? `Python ${version} (Pyodide)` : 'Python (Pyodide)';
  if (choice) return visible(choice.displayName);
  return visible([displayName || name, version].filter(Boolean).join(' ')) || 'Kernel';
}

/** Around the kernel's name in the bar: pressed, it lists what else could run the code. Nothing can be pressed where nothing can be chosen. */
export function createKernelPicker(store: Store, commands: Commands, content: HTMLElement): HTMLButtonElement {
  const opener = button(
    { class: 'kernel-picker bare', 'aria-haspopup': 'dialog', onclick: () => showKernels(store, commands) },
    content,
    el('span', { class: 'kernel-arrow', 'aria-hidden': 'true' }, '▾'),
    hiddenText('Choose the kernel'),
  );
  store.follow(['reset', 'choice', 'link'], () => {
    opener.disabled = store.choice === null || store.offReason !== undefined;
  });
  return opener;
}

/** What the person has to answer or know before the right kernel runs. */
export function followKernelChoice(store: Store, banners: Banners, commands: Commands): void {
  store.follow(['reset', 'choice', 'finished'], () => {
    const { proposal = null, notice = null, mayAllow = null } = store.choice ?? {};
    banners.set('kernel-allow', mayAllow === null ? undefined : allowBanner(mayAllow, commands));
    const answer = (yes: boolean) => proposal && void commands.ask({ do: 'trustFolder', yes, ...named(proposal) });
    const actions = yesOrNo('Use it', 'Not now', answer);
    const text = proposal && [proposal.question, ...whatFollows(proposal, store)].join(' ');
    banners.set('kernel-proposal', text === null ? undefined : { kind: 'info', text, actions });
    banners.set('kernel-notice', notice === null ? undefined : { kind: 'info', text: notice, closes: true });
  });
}

/** What code was kept from. The person need not hurry: it is in no dialog, and takes the keyboard from nothing. */
function allowBanner({ kind, what }: NonNullable<KernelChoice['mayAllow']>, commands: Commands): Banner {
  const answer = (yes: boolean) => () => void commands.ask({ do: 'allow', what, yes });
  const tried = kind === 'write' ? `write into the folder ${quoted(what, 300)}` : `reach the server ${quoted(what, 300)}`;
  return {
    kind: 'info',
    text: `Code tried to ${tried}, and its sandbox does not let it. Allowing it restarts the kernel: all variables are lost.`,
    isVisible: true,
    actions: [
      { text: kind === 'write' ? 'Allow writing there' : 'Allow this server', act: answer(true) },
      { text: 'Not now', act: answer(false) },
    ],
  };
}

function showKernels(store: Store, commands: Commands): void {
  const state = el('p', { id: 'kernel-isolation' });
  const list = el('div', { class: 'kernel-lists', role: 'status' }, 'Looking for kernels…');
  const dialog = openPanel({ name: 'kernel-dialog', title: 'Kernel', onClose: () => forget() }, state, list);
  dialog.setAttribute('aria-describedby', state.id);
  const forget = store.follow(['reset', 'choice', 'kernel'], () => {
    const { choice } = store;
    if (choice === null) return dialog.close();
    state.replaceChildren(el('strong', {}, kernelLabel(store)), `, because ${visible(choice.reason)}. ${visible(choice.isolation)}`);
  });
  void commands.ask({ do: 'listKernels' }).then((found) => {
    if (!found || !dialog.isConnected) return dialog.close();
    const { kernels } = found as KernelList;
    list.removeAttribute('role');
    const pick = (kernel: KernelOffer) => {
      dialog.close();
      if (!kernel.isCurrent) void useKernel(kernel, store, commands);
    };
    const usable = kernels.filter(({ problem }) => !problem);
    const others = kernels.filter(({ problem }) => problem);
    list.replaceChildren(
      el('ul', { class: 'kernel-list', 'aria-label': 'Kernels' }, ...usable.map((kernel) => el('li', {}, toButton(kernel, pick)))),
      ...(others.length > 0 ? [el('h3', { id: 'kernel-others' }, 'Not usable as they are')] : []),
      el('ul', { class: 'kernel-list', 'aria-labelledby': 'kernel-others' }, ...others.map(toReason)),
    );
    const current = list.querySelector<HTMLElement>('[aria-current="true"]') ?? list.querySelector<HTMLElement>('.kernel-offer');
    current?.focus();
  });
}

const sources: { readonly [source in KernelOffer['source']]: string } = {
  'built in': 'Comes with Notebridge',
  activated: 'The activated environment',
  kernelspec: 'Installed for Jupyter',
  folder: 'Of this folder',
  path: 'On this machine',
};

function toButton(kernel: KernelOffer, pick: (kernel: KernelOffer) => void): HTMLButtonElement {
  const { displayName, source, path, isCurrent, language } = kernel;
  const where = [sources[source], language === 'python' ? undefined : visible(language), path === undefined ? undefined : visible(path)];
  const now = isCurrent ? el('span', { class: 'kernel-now' }, ' in use') : undefined;
  return button(
    { class: 'kernel-offer', 'aria-current': isCurrent ? 'true' : undefined, onclick: () => pick(kernel) },
    el('span', { class: 'kernel-offer-name' }, visible(displayName), now),
    el('span', { class: 'kernel-offer-where' }, where.filter((part) => part !== undefined).join(' · ')),
  );
}

function toReason({ displayName, problem, path }: KernelOffer): HTMLLIElement {
  return el(
    'li',
    { class: 'kernel-unusable', title: path === undefined ? undefined : visible(path) },
    el('span', { class: 'kernel-offer-name' }, visible(displayName)),
    el('span', { class: 'kernel-offer-where' }, visible(problem?.reason ?? '')),
    problem?.fix === undefined ? undefined : el('code', { class: 'kernel-fix', tabindex: '0' }, visible(problem.fix)),
  );
}

/** One yes, which says all that it means. */
async function useKernel({ id, displayName, asks }: KernelOffer, store: Store, commands: Commands): Promise<void> {
  const lost = lostVariables(store);
  const remembered = 'Notebridge remembers a yes for this folder; "notebridge kernels --distrust" takes it back.';
  const detail = asks ? [...whatFollows(asks, store), `Folder: ${asks.folder ?? ''}. ${remembered}`] : lost;
  const question = asks?.question ?? `Switch to ${displayName}?`;
  if (detail.length > 0 && !(await confirm(visible(question), { yes: asks ? 'Use it' : 'Switch', detail: visible(detail.join(' ')) })))
    return;
  const answer = (await commands.ask({ do: 'useKernel', id })) as { asks?: KernelAsks } | undefined;
  if (answer?.asks && asks) await commands.ask({ do: 'trustFolder', yes: true, ...named({ id, folder: asks.folder }) });
}

/** What the person has read: a yes is for that alone. */
function named({ id, folder }: { id: string; folder: string | null }): { id: string; folder?: string } {
  return { id, ...(folder === null ? {} : { folder }) };
}

function whatFollows({ isolation }: KernelAsks, store: Store): string[] {
  return [`It is ${isolation.charAt(0).toLowerCase()}${isolation.slice(1)}`, ...lostVariables(store)];
}

/** What code has left in memory ends with its kernel. */
function lostVariables({ kernel, hasRun }: Store): string[] {
  return kernel.state === 'dead' || !hasRun ? [] : ['What runs is stopped, and all variables are lost; cells and outputs stay.'];
}
