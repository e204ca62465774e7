import { button, el } from '../dom.js';
import { iconButton } from '../icons.js';
import { placeBeside } from './place-beside.js';

export interface MenuItem {
  readonly text: string;
  /** The keys that do the same, as the help writes them. */
  readonly keys?: string;
  readonly act: () => unknown;
  readonly isOff?: boolean;
  /** A line above it. */
  readonly begins?: boolean;
  /** A choice that is on or off. */
  readonly isChecked?: boolean;
}

/** A button that opens a menu below itself. The items are asked for each time. Arrows, Home and End move; Escape and Tab close. */
export function menuButton(label: string, items: () => readonly MenuItem[]): HTMLButtonElement {
  const open = () => openMenu(opener, items());
  const opener = iconButton('more', label, open);
  opener.setAttribute('aria-haspopup', 'menu');
  opener.setAttribute('aria-expanded', 'false');
  opener.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown') return;
    event.preventDefault();
    event.stopPropagation();
    open();
  });
  return opener;
}

let closeOpen: (() => void) | undefined;

function openMenu(opener: HTMLElement, items: readonly MenuItem[]): void {
  const wasOpen = opener.getAttribute('aria-expanded') === 'true';
  closeOpen?.();
  if (wasOpen) return;
  const buttons = items.map((item) => itemButton(item, () => close(true)));
  const menu = el('div', { class: 'menu', role: 'menu', 'aria-label': opener.title });
  for (const [index, item] of items.entries()) {
    if (item.begins) menu.append(el('div', { class: 'menu-line', role: 'separator' }));
    menu.append(buttons[index] ?? '');
  }
  const onOutside = ({ target }: Event) => target instanceof Node && !menu.contains(target) && !opener.contains(target) && close(false);
  const onLeave = () => close(false);
  const close = (givesBack: boolean) => {
    menu.remove();
    opener.setAttribute('aria-expanded', 'false');
    document.removeEventListener('pointerdown', onOutside);
    removeEventListener('resize', onLeave);
    closeOpen = undefined;
    if (givesBack) opener.focus();
  };
  closeOpen = () => close(false);
  menu.addEventListener('keydown', (event) => {
    const open = buttons.filter((each) => !each.disabled);
    const at = open.indexOf(document.activeElement as HTMLButtonElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 + (at <= 0 ? open.length : 0), Home: 0, End: open.length - 1 }[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') close(true);
    else if (next !== undefined) open[next % open.length]?.focus();
    else return event.stopPropagation();
    event.preventDefault();
    event.stopPropagation();
  });
  document.addEventListener('pointerdown', onOutside);
  addEventListener('resize', onLeave);
  opener.setAttribute('aria-expanded', 'true');
  document.body.append(menu);
  const { right, top, bottom } = opener.getBoundingClientRect();
  placeBeside(menu, { left: right - menu.offsetWidth, top, bottom });
  buttons.find((each) => !each.disabled)?.focus();
}

function itemButton({ text, keys, act, isOff = false, isChecked }: MenuItem, close: () => void): HTMLButtonElement {
  const choice = isChecked === undefined ? { role: 'menuitem' } : { role: 'menuitemcheckbox', 'aria-checked': String(isChecked) };
  const shown = keys === undefined ? undefined : el('span', { class: 'menu-keys', 'aria-hidden': 'true' }, keys);
  return button(
    {
      ...choice,
      class: 'menu-item',
      tabindex: -1,
      disabled: isOff,
      'aria-keyshortcuts': keys?.replaceAll(' ', '+'),
      onclick: () => {
        close();
        void act();
      },
    },
    el('span', {}, text),
    shown,
  );
}
