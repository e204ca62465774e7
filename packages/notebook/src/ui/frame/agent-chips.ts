import type { Commands } from '../commands.js';
import { button, el } from '../dom.js';
import { icon } from '../icons.js';
import { agentName } from '../names.js';
import type { Store } from '../state/store.js';

/** Who is connected, as the host said last, each with the way to end it. While there is no host, that is not known. */
export function agentChips(store: Store, commands: Commands): HTMLElement[] {
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
      button(
        {
          class: 'disconnect',
          'aria-label': `Disconnect ${name}`,
          title: offReason,
          disabled: offReason !== undefined,
          onclick: () => void commands.ask({ do: 'disconnectAgent', agentId: id }),
        },
        el('span', { class: 'word' }, 'Disconnect'),
        icon('close'),
      ),
    );
  });
}
