// @ts-check
// No module: a browser names the origin when it asks for one, and a request with an origin is a foreign page's here.
/** Shows what keeps a notebook page from connecting, and follows it: once a second, while the tab is seen. */

/**
 * @typedef {{ text: string, copy?: string, isLink?: boolean }} Step
 * @typedef {{ id: string, title: string, kind: string, heading: string, text: string, steps: Step[] }} Notebook
 */

const storageKey = 'notebridge-connect';
const pollMs = 1000;
const live = byId('live');
const place = byId('notebooks');
const ended = byId('ended');

const faults = {
  missing: 'This page is opened by an address of its own. Ask your agent to open the notebook: its answer has one.',
  used: 'This address was used already: each opens this page once. Ask your agent for a new one.',
  expired: 'This address has ended: it is good for 15 minutes. Ask your agent for a new one.',
  unknown: 'This address is of a Notebridge that has ended. Ask your agent for a new one.',
  other_user: 'This address is good for programs of the user who runs Notebridge, and this browser is none that can be told to be one.',
};
/** @type {Record<string, string>} */
const typedFaults = { used: 'This code was used already.', expired: 'This code has ended: it is good for 15 minutes.' };

/** What is shown, so that nothing is drawn anew, and no selection lost, while nothing changes. */
let shown = '';
/** @type {string | undefined} */
let token;
void start();

async function start() {
  token = await takeToken();
  await poll();
  const pollIfSeen = () => document.visibilityState === 'visible' && void poll();
  setInterval(pollIfSeen, pollMs);
  document.addEventListener('visibilitychange', pollIfSeen);
}

/** @returns {Promise<string | undefined>} */
async function takeToken() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  const kept = sessionStorage.getItem(storageKey) ?? undefined;
  if (code === null) return kept ?? fail('missing');
  // What stays in the browser's history opens nothing.
  history.replaceState(null, '', location.pathname);
  try {
    const answer = await ask('enter', code);
    const text = await answer.text();
    if (!answer.ok) return kept ?? fail(text === 'used' || text === 'expired' || text === 'other_user' ? text : 'unknown');
    sessionStorage.setItem(storageKey, text);
    return text;
  } catch {
    return kept ?? fail('unknown');
  }
}

async function poll() {
  if (token === undefined) return;
  try {
    const answer = await ask('state', token);
    if (answer.status === 403) {
      token = fail('unknown');
      return;
    }
    show(await answer.text());
    setLive('live', 'Live');
  } catch {
    setLive('lost', 'No answer');
  }
}

/** @param {'live' | 'lost'} state @param {string} text */
function setLive(state, text) {
  live.textContent = text;
  live.dataset.state = state;
  place.classList.toggle('last-known', state === 'lost');
  ended.hidden = state === 'live';
}

/** @param {string} part @param {string} bearer */
function ask(part, bearer) {
  return fetch(`/connect/${part}`, { headers: { authorization: `Bearer ${bearer}` }, cache: 'no-store' });
}

/** @param {keyof typeof faults} fault @returns {undefined} */
function fail(fault) {
  sessionStorage.removeItem(storageKey);
  live.textContent = '';
  delete live.dataset.state;
  place.replaceChildren(element('p', 'notice', faults[fault]), codeForm());
}

/** For who has come through a proxy or forwarded port, or as another user: their pages may connect then, too. */
function codeForm() {
  const form = element('form', 'code');
  const label = element('label', '', 'Or type the code that "notebridge code" shows in a terminal: ');
  const input = /** @type {HTMLInputElement} */ (element('input', ''));
  const button = /** @type {HTMLButtonElement} */ (element('button', '', 'Open'));
  const says = element('p', 'notice');
  Object.assign(input, { type: 'text', autocomplete: 'off', spellcheck: false, maxLength: 24 });
  button.type = 'submit';
  says.setAttribute('role', 'alert');
  label.append(input);
  form.append(label, button, says);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void enterTyped(input.value.replaceAll(/[^\w-]/g, ''), says);
  });
  return form;
}

/** @param {string} code @param {HTMLElement} says */
async function enterTyped(code, says) {
  try {
    const answer = await ask('enter', code);
    const text = await answer.text();
    if (!answer.ok) {
      says.textContent = typedFaults[text] ?? 'This is no code of this Notebridge.';
      return;
    }
    sessionStorage.setItem(storageKey, text);
    token = text;
    await poll();
  } catch {
    says.textContent = 'Notebridge does not answer.';
  }
}

/** @param {string} text */
function show(text) {
  if (text === shown) return;
  shown = text;
  /** @type {{ notebooks: Notebook[] }} */
  const { notebooks } = JSON.parse(text);
  place.replaceChildren(...notebooks.map(toCard));
  if (notebooks.length === 0) place.append(element('p', 'notice', 'No notebook waits for a page.'));
}

/** @param {Notebook} notebook */
function toCard({ title, kind, heading, text, steps }) {
  const card = element('section', 'card');
  card.dataset.kind = kind;
  const list = element('ul', 'steps');
  list.append(...steps.map(toStep));
  card.append(element('p', 'title', title), element('h2', '', heading), element('p', 'text', text));
  if (steps.length > 0) card.append(list);
  return card;
}

/** @param {Step} step */
function toStep({ text, copy, isLink }) {
  const item = element('li', '');
  item.append(element('p', '', text));
  if (copy === undefined) return item;
  const row = element('div', 'copy');
  const value = element('code', '', copy);
  value.tabIndex = 0;
  const button = element('button', '', 'Copy');
  button.addEventListener('click', () => void copyText(copy, button, value));
  row.append(value, button);
  if (isLink === true && copy.startsWith('https://')) {
    const link = /** @type {HTMLAnchorElement} */ (element('a', 'open', 'Open'));
    link.href = copy;
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
    row.append(link);
  }
  item.append(row);
  return item;
}

/** @param {string} text @param {HTMLElement} button @param {HTMLElement} value */
async function copyText(text, button, value) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(value);
    button.textContent = 'Selected';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}

/** @param {string} name @param {string} className @param {string} [text] */
function element(name, className, text) {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @param {string} id */
function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`There is no #${id}.`);
  return found;
}
