import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';
import type { GrantStore } from '../../grants/grant-store.js';
import type { WatchedAgent, WatchedAgents } from '../../recent/watched-agents.js';
import type { OwnerAnswers } from './owner-routes.js';
import type { OwnerBody } from './owner-schemas.js';

/** The agents that are connected, for the owner of the hub. */
export function agentAnswers(agents: WatchedAgents, store: Pick<GrantStore, 'list'>) {
  return {
    /** The last that came stands first. */
    listAgents: () => {
      const labels = new Map(store.list().map(({ id, label }) => [id, label]));
      return { agents: agents.all.map((agent) => describeAgent(agent, labels)).reverse() };
    },
    /** Ends the session of an agent: its next request is answered with 404. Throws `bad_params` where it has none that can be ended here. */
    disconnectAgent: ({ params: [id = ''] }) => {
      const agent = agents.all.find(({ sessionId }) => sessionId === id);
      if (agent === undefined)
        throw new BridgeError('bad_params', `There is no agent ${quote(id)} (any more). See: GET /api/v1/hub/agents`);
      if (agent.disconnect === undefined) throw new BridgeError('bad_params', howElse(agent));
      agent.disconnect();
      return { disconnected: true };
    },
  } satisfies Partial<OwnerAnswers>;
}

function describeAgent(agent: WatchedAgent, labels: ReadonlyMap<string, string | undefined>): OwnerBody<'Agents'>['agents'][number] {
  const { sessionId, door, era, principal, names, since, lastCallAt, inFlight, disconnect } = agent;
  const grantId = principal.kind === 'grant' ? principal.grantId : undefined;
  return {
    id: sessionId,
    names: [...names],
    kind: principal.kind,
    grant_id: grantId ?? null,
    label: (grantId === undefined ? undefined : labels.get(grantId)) ?? null,
    door,
    era: era ?? null,
    since: new Date(since).toISOString(),
    last_call: lastCallAt === undefined ? null : new Date(lastCallAt).toISOString(),
    in_flight: inFlight,
    can_disconnect: disconnect !== undefined,
    instead: disconnect === undefined ? howElse(agent) : null,
  };
}

/** What keeps an agent out that has no session to end. */
function howElse({ door, principal }: WatchedAgent): string {
  if (door !== 'http') return 'Its connection is a process or an object of its own: it ends with the program that started it.';
  const why = 'Each of its requests stands for itself (the modern era has no sessions), so there is nothing to disconnect.';
  if (principal.kind === 'grant') return `${why} Revoke its grant, and the next one is refused.`;
  if (principal.kind === 'anonymous') return `${why} It needs no token, since the hub was started with --no-auth: start it without.`;
  return `${why} It calls with the owner’s own token, which no command revokes: end that program, and give it a grant in place of the token.`;
}
