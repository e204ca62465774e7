import { Widget } from '@lumino/widgets';
import { el } from '../../dom.js';
import { followHeight, onWindowMessage, sayToWindow } from '../window-link.js';
import { endCall } from './frame-comm.js';
import { FrameManager } from './widget-manager.js';
import type { Theme, ToWidgets } from './widget-messages.js';

const manager = new FrameManager((modelId) => sayToWindow({ type: 'find', modelId }));
const note = el('div', { class: 'not-loaded', role: 'status', hidden: true });

/** Shows what the window says. `canShow` is false where this browser cannot confine the page. */
export function startWidgets(canShow: boolean): void {
  onWindowMessage((data) => {
    const message = data as ToWidgets;
    switch (message?.type) {
      case 'show':
        return void show(message);
      case 'theme':
        return setTheme(message.theme);
      case 'news':
        for (const news of message.news) manager.take(news).catch((error: unknown) => complain(error));
        return;
      case 'found':
        return manager.found(message.modelId, message.models);
      case 'handled':
        note.hidden = message.fault === undefined;
        note.textContent = message.fault ?? '';
        return endCall(message.call);
    }
  });

  // Nothing is loaded from elsewhere, so a link would leave an empty page.
  addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('a[href]')) event.preventDefault();
  });

  addEventListener('DOMContentLoaded', () => sayToWindow({ type: canShow ? 'ready' : 'unable' }));
}

async function show({ modelId, models, theme }: Extract<ToWidgets, { type: 'show' }>): Promise<void> {
  setTheme(theme);
  const place = el('div', { class: 'widgets' });
  document.body.replaceChildren(place, note);
  followHeight();
  try {
    void manager.add(models);
    const view = await manager.create_view(await manager.get_model(modelId));
    Widget.attach(view.luminoWidget, place);
  } catch (error) {
    complain(error);
  }
}

function setTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

function complain(error: unknown): void {
  note.hidden = false;
  note.textContent = `This widget cannot be shown: ${error instanceof Error ? error.message : String(error)}.`;
}
