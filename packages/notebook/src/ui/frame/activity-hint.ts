import type { Commands } from '../commands.js';
import { button, el, setText } from '../dom.js';
import { icon } from '../icons.js';
import { nameOf } from '../names.js';
import type { AgentTrail } from '../state/agent-trail.js';
import type { Store } from '../state/store.js';

/** "Claude is working in cell 7": where to look, and how to stop it. */
export function createActivityHint(store: Store, trail: AgentTrail, commands: Commands): HTMLElement {
  const text = el('span', { class: 'hint-text' });
  const showButton = button({ onclick: () => trail.activity && commands.show(trail.activity.cellId) }, 'Show');
  const stopButton = button({ class: 'stop', onclick: commands.stop }, icon('stop'), 'Stop');
  const hint = el(
    'div',
    { class: 'hint', role: 'group', 'aria-label': 'What the agent does' },
    el('span', { class: 'dot' }),
    text,
    showButton,
    stopButton,
  );
  const draw = () => {
    const { activity } = trail;
    const running = store.running?.by.kind === 'agent' ? store.running : undefined;
    // Without a host the last known activity may have ended long ago, and the button would have no effect.
    hint.hidden = store.offReason !== undefined || (!activity && !running);
    const by = running?.by ?? activity?.by;
    if (!by) return;
    const at = running ? store.indexOf(running.cellId) : activity?.isGone ? activity.index : store.indexOf(activity?.cellId ?? '');
    setText(text, activity?.isGone && !running ? `${nameOf(by)} deleted cell ${at + 1}` : `${nameOf(by)} is working in cell ${at + 1}`);
    showButton.hidden = activity?.isGone ?? false;
    stopButton.hidden = !running;
    hint.classList.toggle('is-running', running !== undefined);
  };
  trail.on(draw);
  store.follow(['run', 'finished', 'reset', 'link'], draw);
  return hint;
}
