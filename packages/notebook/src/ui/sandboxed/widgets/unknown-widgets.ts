import { DOMWidgetModel, DOMWidgetView } from '@jupyter-widgets/base';

/** Of a package that brings code of its own for pages. What it has is kept, and nothing of it runs. */
export class UnknownModel extends DOMWidgetModel {}

export class UnknownView extends DOMWidgetView {
  override render(): void {
    const { name, module } = this.model;
    // `anywidget` is one class for all of its widgets, whose own name stands here.
    const own: unknown = this.model.get('_anywidget_id');
    this.el.classList.add('unknown-widget');
    this.el.textContent = `The widget “${typeof own === 'string' ? own : name}” of the package “${module}” cannot be shown here: it brings code of its own. This window shows those of ipywidgets itself.`;
  }
}
