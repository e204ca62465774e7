/**
 * Where a page is on its way to us, and what its person does next. The one source of these texts: the answers of tools, `notebridge doctor`
 * and the page `/connect` show them.
 */
export type ConnectionState =
  /** No browser was asked to open the page, or none could be. `hint`: why. */
  | { kind: 'not_opened'; hint?: string | undefined }
  /** The page was opened, and nothing has reached our port. */
  | { kind: 'no_contact' }
  /** A browser opened a connection and sent nothing. */
  | { kind: 'silent' }
  /** A page came with a token that has ended. */
  | { kind: 'stale_token'; origin?: string | undefined }
  | { kind: 'wrong_origin'; origin?: string | undefined }
  /** A page came from another user of this machine. */
  | { kind: 'other_user'; origin?: string | undefined }
  /** The page that was connected has left. */
  | { kind: 'gone' }
  /** A second page came while one is connected. */
  | { kind: 'busy'; holder: string }
  /** The page's socket is open; its handshake is not over. */
  | { kind: 'handshaking'; holder: string }
  /** The page is connected and lists no tool. */
  | { kind: 'no_tools'; holder: string }
  | { kind: 'connected'; holder: string };

/** How a page of this place connects. */
export interface ConnectionWays {
  /** Of the kind of page: "Google Colab". */
  title: string;
  /** Where such a page comes from. */
  origin: string;
  port: number;
  /** The page's address, token included. */
  url: string;
  /** What the page's own dialog takes: `token&port`; undefined if it has none. */
  code: string | undefined;
  /** Makes our port reachable on the machine of the browser; to be run there. */
  sshLine: string;
}

export interface ConnectionStep {
  text: string;
  /** What is to be pasted, or opened. */
  copy?: string;
  /** True if `copy` is an address to open. */
  isLink?: boolean;
}

export interface ConnectionText {
  heading: string;
  text: string;
  steps: readonly ConnectionStep[];
}

/** The families of browsers whose settings have names of their own. */
export type BrowserFamily = 'chrome' | 'edge' | 'firefox' | 'safari';

/** By the header `User-Agent`; undefined for a browser that we have no words for. */
export function toBrowserFamily(userAgent: string | undefined = ''): BrowserFamily | undefined {
  if (/\bEdg(A|iOS)?\//.test(userAgent)) return 'edge';
  if (/\b(Firefox|FxiOS)\//.test(userAgent)) return 'firefox';
  if (/\b(Chrome|Chromium|HeadlessChrome|CriOS)\//.test(userAgent)) return 'chrome';
  return /\bSafari\//.test(userAgent) ? 'safari' : undefined;
}

/** `browser`: the one that the page is open in, if it is known; else the settings of all are named. */
export function describeConnection(state: ConnectionState, ways: ConnectionWays, browser?: BrowserFamily): ConnectionText {
  const { title, origin, port, sshLine } = ways;
  const elsewhere: ConnectionStep = { text: 'If the browser runs on another machine, run there first:', copy: sshLine };
  switch (state.kind) {
    case 'not_opened':
      return {
        heading: `No ${title} page is open`,
        text: state.hint === undefined ? 'Your agent has not opened one yet.' : `No browser was opened. ${state.hint}`,
        steps: [...waysToOpen(ways), elsewhere],
      };
    case 'no_contact':
      return {
        heading: 'The page was opened, and nothing has reached this machine',
        text: `The page dials localhost:${port} when its question is answered with "Connect". Nothing has dialled yet.`,
        steps: [
          { text: 'In the tab that was opened, press "Connect" in the dialog that asks about the local MCP server.' },
          { ...elsewhere, text: 'If the browser runs on another machine, its localhost is not this one. Run there, and reload the page:' },
          ...waysToOpen(ways),
        ],
      };
    case 'silent':
      return {
        heading: 'The browser keeps the page from this machine',
        text: 'A browser reached this machine but did not speak: it seems to lack the local-network permission.',
        steps: [...permissionSteps(origin, browser), { text: 'Reload the page, and press "Connect" again.' }],
      };
    case 'stale_token':
      return {
        heading: 'An old tab tries to connect',
        text: `A page${state.origin === undefined ? '' : ` of ${state.origin}`} came with a token that has ended: it was opened for an earlier session.`,
        steps: [{ text: 'Close that tab: it cannot connect any more.' }, ...waysToOpen(ways)],
      };
    case 'wrong_origin':
      return {
        heading: 'A page of another site tried to connect',
        text: `${state.origin === undefined ? 'It' : `A page of ${state.origin}`} was refused: only pages of ${origin} may connect here.`,
        steps: [
          { text: 'If you did not open it, close that tab: it was told nothing. A page of your own is allowed with --allow-origin.' },
          ...waysToOpen(ways),
        ],
      };
    case 'other_user':
      return {
        heading: 'A browser of another user tried to connect',
        text: `A page${state.origin === undefined ? '' : ` of ${state.origin}`} came from another user of this machine, who may have read the address, and was refused.`,
        steps: [
          {
            text: 'If it was your own, through a proxy, a forwarded port or a container, open this in the same browser, type the code that `notebridge code` shows in a terminal, and connect again:',
            copy: `http://localhost:${port}/connect`,
          },
        ],
      };
    case 'gone':
      return {
        heading: 'The page has gone',
        text: 'It was connected, and was closed or reloaded. Calls wait half a minute for it.',
        steps: [{ text: 'If it is still open, press "Connect" in it.' }, ...waysToOpen(ways)],
      };
    case 'busy':
      return {
        heading: 'Another page is connected already',
        text: `This place is held by ${state.holder}. A second page was sent away ("Server is busy").`,
        steps: [{ text: 'Work in the page that is connected; or close it, and press "Connect" in the other one.' }],
      };
    case 'handshaking':
      return { heading: 'The page is connecting', text: `Its connection is open (${state.holder}), and it is asked who it is.`, steps: [] };
    case 'no_tools':
      return {
        heading: 'The page is connected, and offers no tools',
        text: `There is ${state.holder}. It answers, and lists no tool that an agent could call.`,
        steps: [
          { text: 'Wait until the notebook in it has loaded, and is not open read-only.' },
          { text: 'Reload the page, and press "Connect" again. If it stays without tools, open another notebook:' },
          ...waysToOpen(ways),
        ],
      };
    case 'connected':
      return { heading: 'Connected', text: `Your agent works in ${state.holder}.`, steps: [] };
  }
}

/** A text on lines of its own for each step, for tools and terminals. */
export function printConnection({ text, steps }: Pick<ConnectionText, 'text' | 'steps'>): string {
  return [text, ...steps.map(printStep)].join('\n');
}

export function printStep({ text, copy }: ConnectionStep): string {
  return copy === undefined ? `- ${text}` : `- ${text} ${copy}`;
}

/** The ways to a page that do not depend on what went wrong. */
export function waysToOpen({ url, code }: ConnectionWays): ConnectionStep[] {
  const palette = 'In a notebook that is already open: Tools > Command palette > "Connect to a local Colab MCP server", and paste:';
  return [
    { text: 'Open this URL (it contains the access token: do not share it):', copy: url, isLink: true },
    ...(code === undefined ? [] : [{ text: palette, copy: code }]),
  ];
}

/** Something is to be mended before a page can come. */
export function isTrouble({ kind }: ConnectionState): boolean {
  return kind === 'silent' || kind === 'stale_token' || kind === 'wrong_origin' || kind === 'other_user';
}

/** The very setting of the browser. Those of Chromium are on a page of their own for each site, under whatever name the version has for it. */
function permissionSteps(origin: string, browser: BrowserFamily | undefined): ConnectionStep[] {
  const inChromium = (name: string, scheme: string): ConnectionStep => ({
    text: `In ${name}, click the icon left of the address on ${origin}, and allow "Local network access" (newer versions: "Apps on device"). The same setting is at:`,
    copy: `${scheme}://settings/content/siteDetails?site=${encodeURIComponent(origin)}`,
  });
  const all: Record<BrowserFamily, ConnectionStep> = {
    chrome: inChromium('Chrome', 'chrome'),
    edge: inChromium('Edge', 'edge'),
    firefox: {
      text: `In Firefox, click the icon left of the address on ${origin}, and remove the block of "Device apps and services". The same setting is in Settings > Privacy & Security > Permissions:`,
      copy: 'about:preferences#privacy',
    },
    safari: { text: 'Safari has no such setting, and may refuse these connections altogether. Use Chrome, Edge or Firefox.' },
  };
  return browser === undefined ? [all.chrome, all.edge, all.firefox, all.safari] : [all[browser]];
}
