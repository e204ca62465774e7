import type { ConnectedAgent } from '../../viewer/protocol.js';
import type { Commands } from '../commands.js';
import { button, el } from '../dom.js';
import { icon } from '../icons.js';
import { agentNameAmong } from '../names.js';
import type { Store } from '../state/store.js';
import { timeOfDay } from './lease-banners.js';

/** Who is connected, as the host said last, each with the way to end it. While there is no host, that is not known. */
export function agentChips(store: Store, commands: Commands): HTMLElement[] {
  const { offReason } = store;
  if (store.agents.length === 0) return [el('span', { class: 'nobody' }, offReason ?? 'No agent connected')];
  return store.agents.map((agent) => {
    const { id } = agent;
    const name = agentNameAmong(store.agents, id, agent.name);
    const prefix = offReason === undefined ? 'Agent connected: ' : 'Was connected: ';
    return el(
      'div',
      { class: 'agent' },
      el('span', { class: 'dot' }),
      el('span', { class: 'agent-name', title: `${prefix}${name}` }, el('span', { class: 'prefix' }, prefix), el('bdi', {}, name)),
      leaseButton(agent, name, { store, commands }),
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

/** Which of them changes and runs, and the way to take that away; of one from whom it was taken, the way to give it back. */
function leaseButton(
  { id }: ConnectedAgent,
  name: string,
  { store: { lease, offReason }, commands }: { store: Store; commands: Commands },
): HTMLElement | undefined {
  const isHolder = lease?.holder?.id === id;
  if (!isHolder && lease?.barred.includes(id) !== true) return undefined;
  const tip = isHolder
    ? `${name} changes and runs, since ${timeOfDay(lease.holder.since)}; other agents read. Press to take that away`
    : `${name} reads only: you have taken the notebook away from it. Press to let it write again`;
  return button(
    {
      class: 'lease',
      'aria-label': isHolder ? `${name} holds the notebook: take it away` : `${name} reads only: let it write again`,
      'data-holds': String(isHolder),
      title: offReason ?? tip,
      disabled: offReason !== undefined,
      onclick: () => void commands.ask({ do: 'setMayHold', agentId: id, may: !isHolder }),
    },
    icon(isHolder ? 'writes' : 'looks'),
    el('span', { class: 'word' }, isHolder ? 'Take away' : 'Let write'),
  );
}
