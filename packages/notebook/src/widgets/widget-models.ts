import { Listeners } from '@notebridge/protocol/util/listeners';
import type { CommMessage, KernelComms } from '../kernel/jupyter-protocol/kernel-comms.js';
import type { Output } from '../model/output.js';
import { CapturedOutputs } from './captured-outputs.js';
import { ModelState, parseStatePart, type StatePart } from './model-state.js';

/** What happens to the models. */
export type WidgetEvent =
  | { readonly kind: 'open' | 'close'; readonly commId: string }
  /** `by`: who has set them in a window; undefined for the kernel. */
  | { readonly kind: 'update'; readonly commId: string; readonly names: readonly string[]; readonly by: object | undefined }
  | { readonly kind: 'custom'; readonly commId: string; readonly content: unknown; readonly buffers: readonly Uint8Array[] }
  /** There are none any more: the kernel has ended, or begins anew. */
  | { readonly kind: 'gone' };

export interface WidgetLimits {
  /** Models that are known at once. What was used longest ago is forgotten first. Default 10 000. */
  maxModels?: number;
  /** Of all their states together. The same. Default 128 MiB. */
  maxBytes?: number;
}

/** Comms of other targets are no widgets, and never leave the host. */
const target = 'jupyter.widget';
/** Models that code has closed, as they are remembered. */
const maxClosed = 10_000;
/** Models that no other one names, and that work beside those that they name. */
const linkNames = new Set(['LinkModel', 'DirectionalLinkModel']);
/** Of one view: a grid of a thousand buttons, with a layout and a style for each. */
const maxReached = 5000;

/**
 * The models of the widgets of a kernel that lives, as its code has opened and set them. Kept here, so that a window that is opened while a cell
 * runs sees them at once; a kernel answers only between cells.
 */
export class WidgetModels {
  readonly #comms: KernelComms;
  readonly #limits: Required<WidgetLimits>;
  /** The one that was used longest ago in front. */
  readonly #models = new Map<string, ModelState>();
  readonly #listeners = new Listeners<WidgetEvent>();
  readonly #captured: CapturedOutputs;
  readonly #stops: readonly (() => void)[];
  /** Those that code has closed, the one that was closed first in front. */
  readonly #closed = new Set<string>();
  #bytes = 0;
  /** The links of each model; undefined when they have to be looked for anew. */
  #links: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(comms: KernelComms, { maxModels = 10_000, maxBytes = 128 * 1024 * 1024 }: WidgetLimits = {}) {
    this.#comms = comms;
    this.#limits = { maxModels, maxBytes };
    this.#captured = new CapturedOutputs({
      show: (commId, outputs) => this.merge(commId, { state: { outputs }, bufferPaths: [], buffers: [] }),
      send: (commId, outputs) => comms.send(toUpdate(commId, { outputs })),
    });
    this.#stops = [comms.onMessage((message) => this.#take(message)), comms.onShown((cause, read) => this.#captured.take(cause, read))];
  }

  /** False: the kernel has no comms at all. */
  get isSupported(): boolean {
    return this.#comms.isSupported;
  }

  onEvent(listener: (event: WidgetEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  find(commId: string): ModelState | undefined {
    return this.#models.get(commId);
  }

  /** Its code has closed it, as bars of tqdm that are not to stay: it shows nothing any more. */
  isClosed(commId: string): boolean {
    return this.#closed.has(commId);
  }

  /** The model, all that it needs to be shown, and the links between them; empty if it is not there. Without those that are `known`. */
  reach(commId: string, known: ReadonlySet<string> = new Set()): Map<string, ModelState> {
    const reached = new Map<string, ModelState>();
    const waiting = [commId];
    const unlinked: string[] = [];
    const add = (id: string): void => {
      const model = this.#models.get(id);
      if (!model || known.has(id) || reached.has(id) || reached.size >= maxReached) return;
      reached.set(id, model);
      unlinked.push(id);
      this.#touch(id, model);
      // There may be more of them than a call takes arguments.
      for (const each of model.references()) waiting.push(each);
    };
    while (waiting.length > 0) {
      for (const id of waiting.splice(0)) add(id);
      if (waiting.length > 0) continue;
      for (const id of unlinked.splice(0)) for (const link of this.#findLinks().get(id) ?? []) add(link);
    }
    return reached;
  }

  /** What an Output widget shows; nothing for any other. */
  shownBy(commId: string): readonly Output[] {
    return this.#captured.shownBy(commId);
  }

  /** The models that a link joins; undefined for another one. */
  linkedBy(commId: string): ReadonlySet<string> | undefined {
    const model = this.#models.get(commId);
    return model && isLink(model) ? model.references() : undefined;
  }

  /** What the kernel has set, or with `by` somebody in a window; the kernel is told by whoever calls this. */
  merge(commId: string, part: StatePart, by?: object): void {
    const model = this.#models.get(commId);
    if (!model) return;
    const before = model.bytes;
    const wasLink = isLink(model);
    const names = model.set(part);
    if (wasLink || isLink(model)) this.#links = undefined;
    this.#bytes += model.bytes - before;
    this.#touch(commId, model);
    if (by === undefined && !this.#captured.isShowing) this.#captured.follow(commId, model, names);
    this.#listeners.emit({ kind: 'update', commId, names, by });
    this.#shrink();
  }

  /** The kernel has ended, or begins anew. */
  clear(): void {
    this.#captured.clear();
    this.#closed.clear();
    this.#bytes = 0;
    if (this.#models.size === 0) return;
    this.#models.clear();
    this.#links = undefined;
    this.#listeners.emit({ kind: 'gone' });
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#captured.clear();
  }

  #take({ type, commId, targetName, data, buffers }: CommMessage): void {
    if (type === 'open') {
      if (targetName === target) this.#open(commId, parseStatePart(data, buffers));
      return;
    }
    if (!this.#models.has(commId)) return;
    if (type === 'close') {
      this.#closed.add(commId);
      const [first] = this.#closed;
      if (this.#closed.size > maxClosed && first !== undefined) this.#closed.delete(first);
      return this.#forget(commId);
    }
    const { method, content } = (data ?? {}) as { method?: unknown; content?: unknown };
    // An echo says what a window has set, which all have heard of already.
    if (method === 'custom') this.#listeners.emit({ kind: 'custom', commId, content, buffers });
    const part = method === 'update' ? parseStatePart(data, buffers) : undefined;
    if (part) this.merge(commId, part);
  }

  #open(commId: string, part: StatePart | undefined): void {
    if (!part) return;
    this.#drop(commId);
    this.#closed.delete(commId);
    const model = new ModelState();
    model.set(part);
    this.#models.set(commId, model);
    if (isLink(model)) this.#links = undefined;
    this.#bytes += model.bytes;
    this.#captured.follow(commId, model, Object.keys(part.state));
    this.#listeners.emit({ kind: 'open', commId });
    this.#shrink();
  }

  #forget(commId: string): void {
    this.#drop(commId);
    this.#listeners.emit({ kind: 'close', commId });
  }

  #drop(commId: string): void {
    const model = this.#models.get(commId);
    if (!model) return;
    this.#bytes -= model.bytes;
    if (isLink(model)) this.#links = undefined;
    this.#models.delete(commId);
    this.#captured.forget(commId);
  }

  #findLinks(): ReadonlyMap<string, readonly string[]> {
    if (this.#links) return this.#links;
    const found = new Map<string, string[]>();
    for (const [id, model] of this.#models) {
      if (!isLink(model)) continue;
      for (const end of model.references()) {
        const links = found.get(end) ?? [];
        found.set(end, links);
        links.push(id);
      }
    }
    this.#links = found;
    return found;
  }

  #touch(commId: string, model: ModelState): void {
    this.#models.delete(commId);
    this.#models.set(commId, model);
  }

  #shrink(): void {
    for (const id of this.#models.keys()) {
      const isSmall = this.#models.size <= this.#limits.maxModels && this.#bytes <= this.#limits.maxBytes;
      if (isSmall || this.#models.size === 1) return;
      this.#forget(id);
    }
  }
}

/** The message that tells the kernel what was set. */
function toUpdate(commId: string, state: { readonly [name: string]: unknown }): CommMessage {
  return { type: 'msg', commId, data: { method: 'update', state, buffer_paths: [] }, metadata: {}, buffers: [] };
}

function isLink(model: ModelState): boolean {
  return linkNames.has(String(model.get('_model_name'))) && model.get('_model_module') === '@jupyter-widgets/controls';
}
