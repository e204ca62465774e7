import { startApp } from './app.js';
import { el } from './dom.js';
import { startTheme } from './frame/theme.js';
import { createLink } from './link/create-link.js';
import { type EntryFault, enter, hasCode, newLinkAdvice, takeKey } from './link/token.js';

const texts: { readonly [fault in EntryFault]: string } = {
  missing: 'This address lacks the token that opens the notebook.',
  used: 'This link was used already: each one opens a single window, so that what stays in the history of a browser opens nothing.',
  expired: 'This link is too old: each one is good for 15 minutes, and for one where Notebridge opens the browser.',
  unknown: 'This link is not of the notebook that is open now.',
  other_user: 'This link is good for programs of the user who has the notebook open, and this browser is none that can be told to be one.',
  unreachable: 'The notebook cannot be reached. If Notebridge has ended, start it again.',
};
const typedTexts: { readonly [fault in EntryFault]?: string } = {
  used: 'This code was used already.',
  expired: 'This code is too old: each one is good for 15 minutes.',
  unreachable: texts.unreachable,
};
const next = `${newLinkAdvice} A window that is open stays good, also when it is reloaded.`;

// Another link that is opened in this tab differs in its fragment only, for which a browser loads nothing.
addEventListener('hashchange', () => hasCode() && location.reload());
startTheme();
const root = document.querySelector<HTMLElement>('#app');
const entered = await takeKey();
if ('key' in entered && location.search === '?unseen') createLink(entered.key, true).connection.open();
else if (root && 'key' in entered) startApp(root, entered.key);
else if (root && 'fault' in entered) showFault(root, entered.fault);

function showFault(root: HTMLElement, fault: EntryFault): void {
  const advice = fault === 'other_user' ? '' : next;
  root.replaceChildren(
    el('main', { class: 'no-token' }, el('h1', {}, 'Notebridge'), el('p', {}, texts[fault]), el('p', {}, advice), codeForm(root)),
  );
}

/** For who has come through a proxy or a forwarded port, or as another user. */
function codeForm(root: HTMLElement): HTMLFormElement {
  const input = el('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', maxlength: 24 });
  const says = el('p', { role: 'alert' });
  const onsubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const typed = await enter(input.value.trim());
    if ('key' in typed) {
      root.replaceChildren();
      return startApp(root, typed.key);
    }
    says.textContent = typedTexts[typed.fault] ?? 'This is no code of this Notebridge.';
  };
  return el(
    'form',
    { onsubmit },
    el('p', {}, 'Or type the code that ', el('code', {}, 'notebridge code'), ' shows in a terminal of that user.'),
    el('label', {}, 'Code ', input),
    ' ',
    el('button', { type: 'submit' }, 'Open'),
    says,
  );
}
