import type { Agent } from './definitions.js';
import { describeAgent, type PageState } from './page-state.js';

/** What is asked before the page dials, and what the answer depends on. */
export interface ConsentRequest {
  /** The page's title, or its name. */
  readonly page: string;
  /** The tools that would be offered, by title or name. */
  readonly tools: readonly string[];
  /** Where the program listens on this computer. */
  readonly port: number;
  /** Who answered there before the page was reloaded. Unknown at first: a program names itself in the handshake. */
  readonly agentName?: string;
  /** Aborts when the answer does not matter any more. */
  readonly signal: AbortSignal;
  /** The session that asks: to show who connected, and to hang up. */
  readonly session: {
    on(event: 'state', listener: (state: PageState) => void): () => void;
    disconnect(): void;
  };
}

/** An agent that wants to change and run what another one holds. */
export interface HandOverRequest {
  /** The page's title, or its name. */
  readonly page: string;
  /** What the agent calls itself. */
  readonly agent: string;
  /** Why, in the agent's words; undefined if it gave none. */
  readonly reason: string | undefined;
  /** What the agent calls itself that holds the page's tools now; undefined if a person took them away from the one that asks. */
  readonly holder: string | undefined;
  /** Aborts when the answer does not matter any more. */
  readonly signal: AbortSignal;
}

export interface AskOptions {
  /** Show who is connected, with a button to disconnect, until the person hides it. Default true; false if the page shows it. */
  notice?: boolean;
}

// System colours follow the page's own light or dark scheme; nothing of the page's style reaches into the shadow.
const css = `
:host { all: initial; color-scheme: inherit; }
dialog { font: 1rem/1.45 system-ui, sans-serif; color: CanvasText; background: Canvas; box-sizing: border-box; width: min(30rem, calc(100vw - 2rem));
  padding: 1.25rem; border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); border-radius: .75rem; box-shadow: 0 .5rem 2rem #0005; overflow-wrap: anywhere; }
dialog::backdrop { background: #0008; }
.notice { position: fixed; inset: auto 1rem 1rem auto; margin: 0; padding: .75rem 1rem; z-index: 2147483647; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; }
.small { font-size: .875rem; color: color-mix(in srgb, CanvasText 70%, Canvas); }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; justify-content: flex-end; }
button { font: inherit; color: inherit; background: transparent; padding: .4rem 1rem; border: 1px solid color-mix(in srgb, CanvasText 40%, Canvas); border-radius: .5rem; cursor: pointer; }
button:hover { background: color-mix(in srgb, CanvasText 10%, Canvas); }
button:focus-visible { outline: 3px solid #2f7bf6; outline-offset: 2px; }
.yes { color: #fff; background: #1d5fd1; border-color: #1d5fd1; }
.yes:hover { background: #174da9; }`;

/**
 * Asks in a small dialog, and shows in a notice who is connected then. Resolves to whether the person agreed; Escape is no.
 * The answer is not kept: that is the page's choice.
 */
export async function askInDialog(request: ConsentRequest, { notice = true }: AskOptions = {}): Promise<boolean> {
  if (typeof document === 'undefined') throw new TypeError('There is no document to ask in: give the session a "consent" of its own.');
  const { page, tools, port, agentName, signal } = request;
  const who = agentName === undefined ? 'A program on this computer' : `“${agentName}”`;
  const text = [
    createElement('h2', `${who} wants to read, change and run this page’s tools`),
    createElement(
      'p',
      `Allow it only if you started it${agentName === undefined ? ' or your agent did' : ''}. You can disconnect at any time.`,
    ),
    createElement('p', `“${page}” offers ${tools.join(', ') || 'no tools'}. The program listens on port ${port}.`, 'small'),
  ];
  const agreed = await askYesOrNo(text, { no: 'Don’t allow', yes: 'Allow', signal });
  if (agreed && notice) showAgent(request.session);
  return agreed;
}

/** Asks in a small dialog whether an agent may change and run what another one holds. Resolves to the person's answer; Escape is no. */
export function askToHandOver({ page, agent, reason, holder, signal }: HandOverRequest): Promise<boolean> {
  if (typeof document === 'undefined') throw new TypeError('There is no document to ask in: give the session a "handOver" of its own.');
  const now = holder === undefined ? 'You have taken it away from it.' : `Now “${holder}” holds it; what runs goes on.`;
  const text = [
    createElement('h2', `“${agent}” asks to change and run “${page}”`),
    ...(reason === undefined ? [] : [createElement('p', `It says: “${reason}”`)]),
    createElement('p', now, 'small'),
  ];
  return askYesOrNo(text, { no: 'No', yes: 'Hand it over', signal });
}

/** Resolves to whether the person said yes; Escape and an abort are no. The dialog is gone then. */
async function askYesOrNo(text: Node[], { no, yes, signal }: { no: string; yes: string; signal: AbortSignal }): Promise<boolean> {
  const dialog = createDialog(text);
  dialog.firstElementChild?.setAttribute('id', 'question');
  dialog.setAttribute('aria-labelledby', 'question');
  const agreed = await new Promise<boolean>((resolve) => {
    const finish = (answer: boolean): void => {
      signal.removeEventListener('abort', refuse);
      resolve(answer);
      dialog.close();
    };
    const refuse = (): void => finish(false);
    signal.addEventListener('abort', refuse);
    // Escape closes the dialog by itself.
    dialog.addEventListener('close', refuse);
    // The safe answer comes first, and has the focus: a key pressed by habit must not let anybody in.
    dialog.append(
      createButtons([
        [no, refuse],
        [yes, () => finish(true), 'yes'],
      ]),
    );
    dialog.showModal();
    if (signal.aborted) refuse();
  });
  remove(dialog);
  return agreed;
}

/** Shows who is connected, from each new agent's handshake until the person hides it; ends with the session's connection. */
export function showAgent(session: ConsentRequest['session']): void {
  let shown: HTMLDialogElement | undefined;
  let hidden: string | undefined;
  const hide = (): void => {
    if (shown) remove(shown);
    shown = undefined;
  };
  const stop = session.on('state', (state) => {
    hide();
    if (state.status === 'asking' || state.status === 'disconnected') return stop();
    if (state.status !== 'connected' || hidden === state.agent.name) return;
    const hideForGood = (): void => {
      hidden = state.agent.name;
      hide();
    };
    const buttons = createButtons([
      ['Disconnect', () => session.disconnect()],
      ['Hide', hideForGood],
    ]);
    shown = createNotice(state.agent, buttons);
  });
}

function createNotice(agent: Agent, buttons: HTMLElement): HTMLDialogElement {
  const text = createElement('p', `${describeAgent(agent)} is connected: it can read, change and run this page’s tools.`);
  // An alert is read out when it appears, unlike a status.
  text.setAttribute('role', 'alert');
  const dialog = createDialog([text, buttons]);
  dialog.className = 'notice';
  dialog.setAttribute('aria-label', 'Connected agent');
  // Not `show`, which would take the focus from whatever the person does.
  dialog.setAttribute('open', '');
  return dialog;
}

/** In a shadow tree, with a constructed style sheet: the page's style, and a policy against inline style, leave it alone. */
function createDialog(children: Node[]): HTMLDialogElement {
  const host = document.createElement('notebridge-dialog');
  const shadow = host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  shadow.adoptedStyleSheets = [sheet];
  const dialog = document.createElement('dialog');
  dialog.append(...children);
  shadow.append(dialog);
  (document.body ?? document.documentElement).append(host);
  return dialog;
}

function remove(dialog: HTMLDialogElement): void {
  (dialog.getRootNode() as ShadowRoot).host?.remove();
}

function createButtons(buttons: [label: string, onClick: () => void, className?: string][]): HTMLElement {
  const row = createElement('div', '', 'buttons');
  for (const [label, onClick, className] of buttons) {
    const button = createElement('button', label, className) as HTMLButtonElement;
    button.type = 'button';
    button.addEventListener('click', onClick);
    row.append(button);
  }
  return row;
}

/** Text is never parsed as HTML: an agent chooses its name. */
function createElement(tag: string, text: string, className = ''): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}
