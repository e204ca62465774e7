import type { Cell } from '../../model/cell.js';
import type { Output } from '../../model/output.js';
import type { HostMessage, ViewerAction } from '../../viewer/protocol.js';
import type { WidgetNews } from '../../viewer/widgets.js';

export interface OutputHost {
  /** Asks the notebook's host. */
  request: (action: ViewerAction) => Promise<unknown>;
  /** The notebook's cells as they are now. */
  cells: () => readonly Cell[];
}

let host: OutputHost = { request: () => Promise.reject(new Error('the notebook is not connected')), cells: () => [] };
let isTrusted = false;
/** Cells whose outputs are of runs of this session. */
let ranHere: ReadonlySet<string> = new Set();
let onWidgets: (news: readonly WidgetNews[] | 'begun') => void = () => {};

/** Gives outputs the notebook that they belong to: once, by whoever opens the connection. */
export function joinOutputs(joined: OutputHost): void {
  host = joined;
}

export function requestOfHost(action: ViewerAction): Promise<unknown> {
  return host.request(action);
}

export function allCells(): readonly Cell[] {
  return host.cells();
}

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
  requestOfHost({ do: 'trustOutputs', trusted }).catch(() => {});
}

/** A person has said that scripts of any output may run. */
export function notebookTrusted(): boolean {
  return isTrusted;
}

/** Whether scripts of the output may run: it has come from a run of this session, or the notebook is trusted. */
export function mayRun(output: Output): boolean {
  return isTrusted || allCells().some(({ id, outputs }) => ranHere.has(id) && outputs.includes(output));
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
