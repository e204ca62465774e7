import type { Cell } from '../../model/cell.js';
import type { Output } from '../../model/output.js';
import type { HostMessage, ViewerAction } from '../../viewer/protocol.js';
import type { WidgetNews } from '../../viewer/widgets.js';

/** The notebook that outputs belong to; whoever opens the connection sets it. */
export const outputHost = {
  /** Asks the notebook's host. */
  request: (_action: ViewerAction): Promise<unknown> => Promise.reject(new Error('the notebook is not connected')),
  /** The notebook's cells as they are now. */
  cells: (): readonly Cell[] => [],
};
let isTrusted = false;
/** Cells whose outputs are of runs of this session. */
let ranHere: ReadonlySet<string> = new Set();
let onWidgets: (news: readonly WidgetNews[] | 'begun') => void = () => {};

/** Takes what the host says of outputs out of its messages. */
export function receiveForOutputs(message: HostMessage): void {
  if (message.type === 'widgets') return onWidgets(message.news);
  if (message.type === 'draw') return void import('./chart-picture.js').then(({ answerDraw }) => answerDraw(message));
  if (message.type === 'hello') onWidgets('begun');
  if (message.type !== 'hello' && message.type !== 'outputsTrusted' && message.type !== 'ranHere') return;
  if (message.type !== 'ranHere') isTrusted = message.outputsTrusted === true;
  if (message.type !== 'outputsTrusted') ranHere = new Set(message.ranHere);
  for (const element of document.querySelectorAll(`.${trustFollower}`)) followers.get(element)?.();
}

/** Gives what is said of widgets to the code that shows them, which is loaded when it is used. `begun`: the host has forgotten what it had opened. */
export function followWidgets(listener: typeof onWidgets): void {
  onWidgets = listener;
}

/** A person trusts the notebook, or no more. Without a connection nothing changes, and the window says that there is none. */
export function trustOutputs(trusted: boolean): void {
  outputHost.request({ do: 'trustOutputs', trusted }).catch(() => {});
}

/** A person has said that scripts of any output may run. */
export function notebookTrusted(): boolean {
  return isTrusted;
}

/** Whether scripts of the output may run: it has come from a run of this session, or the notebook is trusted. */
export function mayRun(output: Output): boolean {
  return isTrusted || outputHost.cells().some(({ id, outputs }) => ranHere.has(id) && outputs.includes(output));
}

const trustFollower = 'follows-trust';
const followers = new WeakMap<Element, () => void>();

/** Calls `show` now, and again whenever something else may run in the element, or trust in the notebook changes. */
export function followTrust(element: Element, output: Output, show: () => void): void {
  const state = () => `${mayRun(output)} ${isTrusted}`;
  let before = state();
  element.classList.add(trustFollower);
  followers.set(element, () => {
    const now = state();
    if (now === before) return;
    before = now;
    show();
  });
  show();
}
