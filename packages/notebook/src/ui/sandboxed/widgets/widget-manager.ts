import * as base from '@jupyter-widgets/base';
import { ManagerBase } from '@jupyter-widgets/base-manager';
import * as controls from '@jupyter-widgets/controls';
import { OutputModel } from '@jupyter-widgets/output';
import type { WidgetModelState, WidgetNews } from '../../../viewer/widgets.js';
import { fromBase64 } from './binary.js';
import { FrameComm, withoutSending } from './frame-comm.js';
import { OutputView } from './output-widget.js';

type WidgetClass = typeof base.WidgetModel | typeof base.WidgetView;

/** All code of widgets that ever runs in the page. */
const modules: { readonly [name: string]: { readonly [className: string]: unknown } | undefined } = {
  '@jupyter-widgets/base': base,
  '@jupyter-widgets/controls': controls as { readonly [className: string]: unknown },
  '@jupyter-widgets/output': { OutputModel, OutputView },
};

/** The models that one view needs, as the kernel has them. Every page has its own, and the host keeps them equal. */
export class FrameManager extends ManagerBase {
  readonly #comms = new Map<string, FrameComm>();
  readonly #ask: (modelId: string) => void;
  /** Of models that were asked for. */
  readonly #asked = new Map<string, PromiseWithResolvers<void>>();

  constructor(ask: (modelId: string) => void) {
    super();
    this.#ask = ask;
  }

  /** Makes those that are not there yet. Each is known before the first waits for another. */
  async add(models: readonly WidgetModelState[]): Promise<void> {
    const made = models.filter(({ commId }) => !this.has_model(commId)).map((model) => this.#make(model));
    await Promise.allSettled(made);
  }

  /** Answers what was asked for. */
  found(modelId: string, models: readonly WidgetModelState[]): void {
    void this.add(models);
    this.#asked.get(modelId)?.resolve();
    this.#asked.delete(modelId);
  }

  async take(news: WidgetNews): Promise<void> {
    switch (news.kind) {
      case 'update':
        if (this.has_model(news.commId)) await this.#update(await super.get_model(news.commId), news, news.isRelayed);
        return;
      case 'custom':
        if (!this.has_model(news.commId) || isTheft(news.content)) return;
        (await super.get_model(news.commId)).trigger('msg:custom', news.content, news.buffers.map(fromBase64));
        return;
      case 'close':
        this.#comms.get(news.commId)?.end();
        this.#comms.delete(news.commId);
        return;
      case 'link':
        if (news.joins.some((id) => this.has_model(id))) await this.get_model(news.commId);
    }
  }

  override async get_model(modelId: string): Promise<base.WidgetModel> {
    if (!this.has_model(modelId)) {
      const known = this.#asked.get(modelId);
      const asked = known ?? Promise.withResolvers<void>();
      this.#asked.set(modelId, asked);
      if (!known) this.#ask(modelId);
      await asked.promise;
    }
    if (!this.has_model(modelId)) throw new Error('the kernel does not have it any more');
    return super.get_model(modelId);
  }

  protected override async loadClass(className: string, moduleName: string): Promise<WidgetClass> {
    const module = Object.hasOwn(modules, moduleName) ? modules[moduleName] : undefined;
    const found = module && Object.hasOwn(module, className) ? module[className] : undefined;
    if (typeof found === 'function') return found as WidgetClass;
    return /Model$/.test(className) ? UnknownModel : UnknownView;
  }

  /** Only the kernel opens comms. */
  protected override _create_comm(): Promise<base.IClassicComm> {
    return Promise.reject(new Error('widgets are made by the kernel'));
  }

  protected override async _get_comm_info(): Promise<object> {
    return {};
  }

  async #make(model: WidgetModelState): Promise<void> {
    const state = stateOf(model);
    const comm = new FrameComm(model.commId);
    this.#comms.set(model.commId, comm);
    const { _model_name, _model_module, _model_module_version } = state;
    const names = {
      model_name: String(_model_name),
      model_module: String(_model_module),
      model_module_version: String(_model_module_version),
    };
    await this.new_model({ ...names, model_id: model.commId, comm }, state);
  }

  /** In order, as the model itself would do it. */
  async #update(model: base.WidgetModel, change: WidgetModelState, isRelayed: boolean): Promise<void> {
    model.state_change = model.state_change.then(async () => {
      const kind = model.constructor as typeof base.WidgetModel;
      const state = await kind._deserialize_state(stateOf(change) as never, this);
      if (isRelayed) withoutSending(() => model.set_state(state));
      else model.set_state(state);
    });
    await model.state_change;
  }
}

/** `widget.focus()`, while the person writes elsewhere. */
function isTheft(content: unknown): boolean {
  return (content as { do?: unknown } | null)?.do === 'focus' && !document.hasFocus();
}

function stateOf({ state, bufferPaths, buffers }: WidgetModelState): { [attribute: string]: unknown } {
  const whole = { ...state };
  base.put_buffers(whole as never, bufferPaths as never, buffers.map(fromBase64));
  return whole;
}

/** Of a package that brings code of its own for pages. What it has is kept, and nothing of it runs. */
class UnknownModel extends base.DOMWidgetModel {}

class UnknownView extends base.DOMWidgetView {
  override render(): void {
    const { name, module } = this.model;
    // `anywidget` is one class for all of its widgets, whose own name stands here.
    const own: unknown = this.model.get('_anywidget_id');
    this.el.classList.add('unknown-widget');
    this.el.textContent = `The widget “${typeof own === 'string' ? own : name}” of the package “${module}” cannot be shown here: it brings code of its own. This window shows those of ipywidgets itself.`;
  }
}
