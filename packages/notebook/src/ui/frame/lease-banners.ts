import type { Commands } from '../commands.js';
import { agentNameAmong, quoted } from '../names.js';
import type { Store } from '../state/store.js';
import { type Banner, type Banners, yesOrNo } from './banners.js';

/** More than one agent seldom asks; what is not shown is shown when these are answered. */
const maxShown = 3;
const maxReason = 200;

/** Agents that ask for the notebook: a person decides. */
export function startLeaseBanners(store: Store, banners: Banners, commands: Commands): void {
  let shown: string[] = [];
  store.follow(['reset', 'lease', 'agents', 'link'], () => {
    const asking = store.link.kind === 'open' ? (store.lease?.asking ?? []).slice(0, maxShown) : [];
    const next = new Map(asking.map((question) => [`take-over-${question.questionId}`, toBanner(question, store, commands)]));
    for (const key of shown) if (!next.has(key)) banners.set(key, undefined);
    for (const [key, banner] of next) banners.set(key, banner);
    shown = [...next.keys()];
  });
}

type Question = NonNullable<Store['lease']>['asking'][number];

function toBanner({ questionId, id, name, reason }: Question, { agents, lease }: Store, commands: Commands): Banner {
  const who = agentNameAmong(agents, id, name);
  const why = reason === undefined ? '' : `: ${quoted(reason, maxReason)}`;
  const holder = lease?.holder;
  const now =
    holder === null || holder === undefined
      ? 'You have taken it away from it.'
      : `Now ${agentNameAmong(agents, holder.id, holder.name)} holds it, since ${timeOfDay(holder.since)}; what runs goes on.`;
  return {
    kind: 'warning',
    text: `${who} asks to change and run this notebook${why}. ${now}`,
    isVisible: true,
    actions: yesOrNo('Hand it over', 'No', (yes) => void commands.ask({ do: 'answerTakeOver', questionId, yes })),
  };
}

/** By the clock of this window. */
export function timeOfDay(since: number): string {
  return new Date(since).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
