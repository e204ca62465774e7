import type { FoundWidget, OpenedWidget, WidgetNews } from '../../viewer/widgets.js';
import { el } from '../dom.js';
import { currentTheme } from '../frame/theme.js';
import type { FromWidgets, ToWidgets } from '../sandboxed/widgets/widget-messages.js';
import { followWidgets, outputHost } from './host-requests.js';
import { type LiveFrame, sandboxedFrame } from './sandboxed-frame.js';

/** A widget, and the element in which it is shown. */
export interface ShownWidget {
  readonly holder: HTMLElement;
  readonly modelId: string;
  readonly textForm: () => HTMLElement;
}

/** One view of a widget, in a page of its own. */
interface View extends ShownWidget {
  frame: LiveFrame | undefined;
  /** Models that the page was given, and no others may it call. */
  readonly known: Set<string>;
}

const gone = 'The kernel of this widget is gone, or has forgotten it. Run the cell again.';
const noComms = 'Widgets need a Python with ipykernel, and this kernel is none: choose another one in the bar, then run the cell again.';

const views = new Set<View>();

followWidgets((news) => {
  dropUnused();
  // The host has forgotten what this window had opened, or is another one: whoever is seen asks again.
  if (news === 'begun')
    queueMicrotask(() => {
      for (const view of [...views]) void showWidget(view);
    });
  else for (const each of news) tell(each, undefined);
});
followTheme();

/** Puts the widget into the holder, in which its text stands, if the kernel has it; else a line that says what to do. */
export async function showWidget(widget: ShownWidget): Promise<void> {
  const { holder, modelId, textForm } = widget;
  for (const view of views) if (view.holder === holder) views.delete(view);
  const answer = (await outputHost.request({ do: 'findWidget', modelId }).catch(() => undefined)) as FoundWidget | undefined;
  // Without a connection the text stays as it is.
  if (!answer) return;
  const { found, text } = answer;
  if (found === 'closed') return holder.replaceChildren();
  // A page that is no part of the window would never be seen: an export has what the widget shows now as text.
  if (!holder.isConnected) {
    if (text !== undefined) holder.replaceChildren(el('pre', { class: 'plain-output' }, text));
    return;
  }
  if (found !== 'yes') return showText(holder, textForm, found === 'noComms' ? noComms : gone);
  const view: View = { ...widget, frame: undefined, known: new Set() };
  views.add(view);
  holder.replaceChildren(
    sandboxedFrame({
      page: 'widgets.html',
      label: 'Widget',
      onReady: (frame) => void begin(view, frame),
      onMessage: (message) => receive(view, message as FromWidgets),
      onEnd: () => {
        view.frame = undefined;
        view.known.clear();
      },
    }),
  );
}

async function begin(view: View, frame: LiveFrame): Promise<void> {
  view.frame = frame;
  const models = await open(view, view.modelId);
  if (view.frame !== frame) return;
  if (models.length === 0) return showWidget(view);
  frame.post({ type: 'show', modelId: view.modelId, models, theme: currentTheme() } satisfies ToWidgets);
}

/** Asks for what a model needs; from then on, news of it are for this view. */
async function open(view: View, modelId: string): Promise<OpenedWidget['models']> {
  const { models } = (await outputHost.request({ do: 'openWidget', modelId }).catch(() => ({ models: [] }))) as OpenedWidget;
  for (const { commId } of models) view.known.add(commId);
  return models;
}

function receive(view: View, message: FromWidgets): void {
  if (message.type === 'find' && typeof message.modelId === 'string') {
    const { modelId } = message;
    void open(view, modelId).then((models) => view.frame?.post({ type: 'found', modelId, models } satisfies ToWidgets));
  }
  if (message.type === 'call') void call(view, message);
}

async function call(view: View, message: Extract<FromWidgets, { type: 'call' }>): Promise<void> {
  const { frame } = view;
  const { call, commId, data, buffers } = message;
  const cellId = view.holder.closest<HTMLElement>('.cell')?.dataset.cellId;
  if (!view.known.has(commId) || cellId === undefined) return;
  const { method, state, buffer_paths: bufferPaths } = data as { method?: unknown; state?: object; buffer_paths?: [] };
  if (method === 'update')
    tell({ kind: 'update', commId, state: { ...state }, bufferPaths: bufferPaths ?? [], buffers, isRelayed: true }, view);
  const fault = await outputHost.request({ do: 'callWidget', commId, cellId, data, buffers }).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  frame?.post({ type: 'handled', call, ...(fault === undefined ? {} : { fault }) } satisfies ToWidgets);
}

/** Brings news to all views that know the model, but for the one in which it was made. */
function tell(news: WidgetNews, from: View | undefined): void {
  if (news.kind === 'gone') return [...views].forEach(end);
  for (const view of views) {
    if (news.kind === 'close' && news.commId === view.modelId) {
      void showWidget(view);
      continue;
    }
    const concerns = news.kind === 'link' ? news.joins.some((id) => view.known.has(id)) : view.known.has(news.commId);
    if (view !== from && concerns) view.frame?.post({ type: 'news', news: [news] } satisfies ToWidgets);
  }
}

function end(view: View): void {
  views.delete(view);
  view.frame = undefined;
  showText(view.holder, view.textForm, gone);
}

function showText(holder: HTMLElement, textForm: () => HTMLElement, why: string): void {
  holder.replaceChildren(textForm(), el('div', { class: 'removed left-out' }, why));
}

/** What is not in the page any more was run again, folded away or deleted. */
function dropUnused(): void {
  for (const view of views) if (!view.holder.isConnected) views.delete(view);
}

function followTheme(): void {
  const follow = () => {
    for (const { frame } of views) frame?.post({ type: 'theme', theme: currentTheme() } satisfies ToWidgets);
  };
  new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', follow);
}
