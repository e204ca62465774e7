import { el } from '../dom.js';
import { icon } from '../icons.js';
import { agentName } from '../names.js';
import type { Store } from '../state/store.js';

export interface AgentChipsOptions {
  store: Store;
  disconnect: (agentId: string) => void;
}

/** Who is connected, as the host said last, each with the way to end it. While there is no host, that is not known. */
export function agentChips({ store, disconnect }: AgentChipsOptions): HTMLElement[] {
  const { offReason } = store;
  if (store.agents.length === 0) return [el('span', { class: 'nobody' }, offReason ?? 'No agent connected')];
  return store.agents.map(({ id, name: given }) => {
    const name = agentName(given);
    const prefix = offReason === undefined ? 'Agent connected: ' : 'Was connected: ';
    return el(
      'div',
      { class: 'agent' },
      el('span', { class: 'dot' }),
      el('span', { class: 'agent-name', title: `${prefix}${name}` }, el('span', { class: 'prefix' }, prefix), el('bdi', {}, name)),
      el(
        'button',
        {
          type: 'button',
          class: 'disconnect',
          'aria-label': `Disconnect ${name}`,
          title: offReason,
          disabled: offReason !== undefined,
          onclick: () => disconnect(id),
        },
        el('span', { class: 'word' }, 'Disconnect'),
        icon('close'),
      ),
    );
  });
}
