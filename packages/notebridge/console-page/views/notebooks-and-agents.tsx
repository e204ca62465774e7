import { count } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Fault, Nothing, Section, useAnswer, useHub, View } from '../parts.js';
import { ask } from '../session.js';
import { AgentTable } from './agent-table.js';
import { Elsewhere } from './elsewhere.js';
import { NotebookCard } from './notebook-card.js';

/** How often it is asked for what no event tells: calls under way, windows. Milliseconds. */
const lookEveryMs = 2000;

/** Who is connected, the notebooks of this hub, and who writes in each. */
export function NotebooksAndAgents({ hub }: { hub: LiveHub }) {
  useHub(hub);
  const look = Math.floor(Date.now() / lookEveryMs);
  const { agents: agentNews, notebooks: notebookNews } = hub.told.news;
  const agents = useAnswer(() => ask<'Agents'>('/agents'), [agentNews, look]);
  const notebooks = useAnswer(() => ask<'Notebooks'>('/notebooks'), [notebookNews, look]);
  const again = (): void => {
    agents.again();
    notebooks.again();
  };
  const held = notebooks.value?.notebooks;
  const connected = agents.value?.agents;
  return (
    <View title="Notebooks and agents" beside={<p class="aside">{connected === undefined ? '' : count(connected.length, 'agent')}</p>}>
      <Section title="Notebooks">
        <Fault text={notebooks.fault} />
        {held?.length === 0 ? (
          <Nothing>
            This hub has no notebook that is open. It was started with <code>--notebook none</code>, or no agent has chosen one yet.
          </Nothing>
        ) : null}
        <ul class="cards">
          {held?.map((notebook) => (
            <NotebookCard key={notebook.id} notebook={notebook} onDone={again} />
          ))}
        </ul>
      </Section>
      <Section title="Agents">
        <Fault text={agents.fault} />
        {connected === undefined ? null : <AgentTable agents={connected} onDone={again} />}
      </Section>
      <Elsewhere />
    </View>
  );
}
