import { Buffer } from 'node:buffer';
import type { Actor } from '../model/cell.js';
import { HostError } from '../session/host-error.js';
import type { NotebookSession } from '../session/session.js';
import type { ViewerAction } from '../viewer/protocol.js';
import type { FoundWidget, WidgetModelState, WidgetNews } from '../viewer/widgets.js';
import { parseStatePart, type StatePart } from '../widgets/model-state.js';
import type { WidgetEvent, WidgetModels } from '../widgets/widget-models.js';
import { widgetText } from '../widgets/widget-text.js';

/** What a person did with a widget, as a window sends it. Buffers are base64. */
type WidgetCall = Omit<Extract<ViewerAction, { do: 'callWidget' }>, 'do'>;

/** The widgets of one window. */
export type WindowWidgets = ReturnType<WidgetTraffic['join']>;

interface Window {
  /** Models that it shows. */
  readonly shown: Set<string>;
  send: (news: readonly WidgetNews[]) => void;
  /** Calls that the kernel has not dealt with. */
  calls: number;
}

/** A loop that sets a bar ten thousand times is seen at this pace. Milliseconds. */
const updateMs = 25;
/** Of one call, its buffers apart. A widget with more would be a data set. */
const maxDataCharacters = 1024 * 1024;
/** Of one call: files that a person uploads. */
const maxBufferBytes = 8 * 1024 * 1024;
/** Of one window: a person's clicks, while a cell runs. */
const maxCalls = 256;

/** Brings the models of widgets to windows that show them, and what persons do there to the kernel. A model that a kernel has was made by code of this session. */
export class WidgetTraffic {
  readonly #session: NotebookSession;
  readonly #models: WidgetModels | undefined;
  readonly #windows = new Set<Window>();
  readonly #stop: () => void;
  /** What was set since the last time, and by which window; the kernel is undefined. */
  readonly #pending = new Map<string, Map<string, object | undefined>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(session: NotebookSession) {
    this.#session = session;
    this.#models = session.widgets;
    this.#stop = this.#models?.onEvent((event) => this.#take(event)) ?? (() => {});
  }

  join(send: (news: readonly WidgetNews[]) => void) {
    const window: Window = { shown: new Set(), send, calls: 0 };
    this.#windows.add(window);
    return {
      find: (modelId: string) => this.#find(modelId),
      /** The window hears of all that the answer names, from now on. */
      open: (modelId: string) => this.#open(window, modelId),
      /** Resolves when the kernel has dealt with it. */
      call: (call: WidgetCall, by: Actor) => this.#call(window, call, by),
      close: () => void this.#windows.delete(window),
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#stop();
    this.#windows.clear();
  }

  #find(modelId: string): FoundWidget {
    if (!this.#models?.isSupported) return { found: 'noComms' };
    if (this.#models.isClosed(modelId)) return { found: 'closed' };
    if (!this.#models.find(modelId)) return { found: 'no' };
    const text = widgetText(this.#models, modelId);
    return { found: 'yes', ...(text === undefined ? {} : { text }) };
  }

  #open(window: Window, modelId: string): { models: readonly WidgetModelState[] } {
    this.#flush();
    const reached = this.#models?.reach(modelId) ?? new Map();
    for (const commId of reached.keys()) window.shown.add(commId);
    return { models: [...reached].map(([commId, model]) => ({ commId, ...toWire(model.part()) })) };
  }

  async #call(window: Window, { commId, data, buffers, cellId }: WidgetCall, by: Actor): Promise<void> {
    const model = window.shown.has(commId) ? this.#models?.find(commId) : undefined;
    if (!model) throw new HostError('bad_request', 'That widget is not there any more. Run its cell again.');
    if (window.calls >= maxCalls)
      throw new HostError('bad_request', 'The kernel has not dealt with what was done before. Wait, or interrupt it.');
    const bytes = decodeAll(buffers);
    const message = { type: 'msg' as const, commId, data: assertCall(data), metadata: {}, buffers: bytes };
    if (data.method === 'update') {
      const part = parseStatePart(data, bytes);
      // What an Output widget shows, and of which code, is said by the kernel alone.
      const isRefused = model.get('_model_name') === 'OutputModel' || !part || !isKnown(part, (name) => model.has(name));
      if (isRefused) throw new HostError('bad_request', 'A widget was set in a way that its kernel does not know. Reload the window.');
      this.#models?.merge(commId, part, window);
    }
    window.calls++;
    try {
      await this.#session.callWidget(message, { cellId, by });
    } finally {
      window.calls--;
    }
  }

  #take(event: WidgetEvent): void {
    if (this.#windows.size === 0) return;
    switch (event.kind) {
      case 'open':
        return this.#announceLink(event.commId);
      case 'update':
        return this.#remember(event);
      case 'custom': {
        const { content, buffers } = event;
        return this.#tell(event.commId, { kind: 'custom', commId: event.commId, content, buffers: buffers.map(toBase64) });
      }
      case 'close':
        this.#tell(event.commId, { kind: 'close', commId: event.commId });
        this.#pending.delete(event.commId);
        for (const { shown } of this.#windows) shown.delete(event.commId);
        return;
      case 'gone':
        this.#pending.clear();
        for (const { shown, send } of this.#windows) {
          shown.clear();
          send([{ kind: 'gone' }]);
        }
    }
  }

  /** Others are asked for by the one that names them. */
  #announceLink(commId: string): void {
    const joins = [...(this.#models?.linkedBy(commId) ?? [])];
    for (const { shown, send } of this.#windows) if (joins.some((each) => shown.has(each))) send([{ kind: 'link', commId, joins }]);
  }

  #remember({ commId, names, by }: Extract<WidgetEvent, { kind: 'update' }>): void {
    if (![...this.#windows].some((window) => window !== by && window.shown.has(commId))) return;
    const pending = this.#pending.get(commId) ?? new Map<string, object | undefined>();
    this.#pending.set(commId, pending);
    for (const name of names) pending.set(name, by);
    this.#timer ??= setTimeout(() => this.#flush(), updateMs).unref();
  }

  #tell(commId: string, news: WidgetNews): void {
    this.#flush();
    for (const { shown, send } of this.#windows) if (shown.has(commId)) send([news]);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    const news = [...this.#pending].flatMap(([commId, names]) => {
      const model = this.#models?.find(commId);
      return [undefined, ...this.#windows].flatMap((by) => {
        const own = [...names].flatMap(([name, setBy]) => (setBy === by ? [name] : []));
        if (!model || own.length === 0) return [];
        const update: WidgetNews = { kind: 'update', commId, ...toWire(model.part(own)), isRelayed: by !== undefined };
        return [{ by, commId, update }];
      });
    });
    this.#pending.clear();
    for (const window of this.#windows) {
      const own = news.filter(({ by, commId }) => by !== window && window.shown.has(commId));
      if (own.length > 0) window.send(own.map(({ update }) => update));
    }
  }
}

/** Two kinds of messages and no others: a value that was set, and what a widget says in its own words. */
function assertCall(data: WidgetCall['data']): WidgetCall['data'] {
  const { method, state, buffer_paths = [], content } = data;
  const known = method === 'update' ? { method, state, buffer_paths } : method === 'custom' ? { method, content } : undefined;
  if (known && JSON.stringify(known).length <= maxDataCharacters) return known;
  throw new HostError('bad_request', 'A widget sent what no kernel takes, or more than a megabyte. Reload the window.');
}

function decodeAll(buffers: readonly string[]): Uint8Array[] {
  if (buffers.reduce((sum, { length }) => sum + length, 0) <= (maxBufferBytes * 4) / 3 + 1024)
    return buffers.map((text) => Buffer.from(text, 'base64'));
  throw new HostError('bad_request', 'A widget sent more than 8 MB, which is the most that a window passes on at once.');
}

/** Nothing that the kernel did not announce, and not what the model is. */
function isKnown({ state, bufferPaths }: StatePart, has: (name: string) => boolean): boolean {
  const names = [...Object.keys(state), ...bufferPaths.map(([name]) => String(name))];
  return names.every((name) => has(name) && !/^_(?:model|view)_(?:module|name)/.test(name));
}

function toWire({ state, bufferPaths, buffers }: StatePart): Omit<WidgetModelState, 'commId'> {
  return { state, bufferPaths, buffers: buffers.map(toBase64) };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
