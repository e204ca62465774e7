import { startApp } from './app.js';
import { el } from './dom.js';
import { startTheme } from './frame/theme.js';
import { type EntryFault, hasCode, newLinkAdvice, takeToken, viewerUrl } from './link/token.js';

const texts: { readonly [fault in EntryFault]: string } = {
  missing: 'This address lacks the token that opens the notebook.',
  used: 'This link was used already: each one opens a single window, so that what stays in the history of a browser opens nothing.',
  expired: 'This link is too old: each one is good for 15 minutes.',
  unknown: 'This link is not of the notebook that is open now.',
  unreachable: 'The notebook cannot be reached. If Notebridge has ended, start it again.',
};
const next = `${newLinkAdvice} A window that is open stays good, also when it is reloaded.`;

// Another link that is opened in this tab differs in its fragment only, for which a browser loads nothing.
addEventListener('hashchange', () => hasCode() && location.reload());
startTheme();
const root = document.querySelector<HTMLElement>('#app');
const entered = await takeToken();
if (root && 'token' in entered) startApp(root, viewerUrl(entered.token));
else if ('fault' in entered)
  root?.replaceChildren(
    el('main', { class: 'no-token' }, el('h1', {}, 'Notebridge'), el('p', {}, texts[entered.fault]), el('p', {}, next)),
  );
