import { startApp } from './app.js';
import { el } from './dom.js';
import { startTheme } from './frame/theme.js';
import { takeToken, viewerUrl } from './link/token.js';

startTheme();
const token = takeToken();
const root = document.querySelector<HTMLElement>('#app');
if (root && token) startApp(root, viewerUrl(token));
else
  root?.replaceChildren(
    el(
      'main',
      { class: 'no-token' },
      el('h1', {}, 'Notebridge'),
      el('p', {}, 'This address lacks the token that opens the notebook. Open the whole link that Notebridge printed.'),
    ),
  );
