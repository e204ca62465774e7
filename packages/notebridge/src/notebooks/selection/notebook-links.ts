import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { nameOfAgent } from '../call-notebook-tool.js';
import type { AgentNotebooks } from './agent-notebooks.js';
import type { NotebookLink } from './notebook-directory.js';

/** Notebooks that one agent may use at once. */
const maxLinks = 32;

export interface NotebookLinksOptions {
  /** The notebook that every agent of this process begins with. It is never left. */
  first: NotebookLink;
  /** Receives what a notebook announces, for the agent that uses it. */
  onEvent: (event: ProviderEvent, link: NotebookLink) => void;
}

/** The links of this process's agents to notebooks beside the first: how they come to be, and how they end. */
export class NotebookLinks {
  readonly #options: NotebookLinksOptions;
  /** By link: what ends its events. */
  readonly #listening = new Map<NotebookLink, () => void>();
  /** Ids from which a person has disconnected an agent of this process: an agent does not come back by itself. */
  readonly #barred = new Set<string>();

  constructor(options: NotebookLinksOptions) {
    this.#options = options;
  }

  /** With the first. */
  all(): NotebookLink[] {
    return [this.#options.first, ...this.#listening.keys()];
  }

  /** Connected already, or the first, which this agent may have left. Throws `disconnected`. */
  find(agent: AgentNotebooks, id: string): NotebookLink | undefined {
    const { first } = this.#options;
    this.#assertMayCome(id);
    return agent.byId(id) ?? (first.id === id ? first : undefined);
  }

  /**
   * A link that the agent uses from now on. `key`: the same for what is opened already. Rejects with `timeout` while it is still being opened,
   * which goes on, and with what keeps it from opening.
   */
  async join(
    agent: AgentNotebooks,
    { key, make, deadline }: { key: string; make: () => NotebookLink; deadline: number },
    context: CallContext,
  ): Promise<NotebookLink> {
    if (agent.hasEnded) throw new BridgeError('closed', 'The session of this agent has ended.');
    if (agent.all().length >= maxLinks && !agent.opening.has(key))
      throw new BridgeError('limit_reached', `An agent uses ${maxLinks} notebooks at most. Leave one with disconnect_notebook.`);
    const link = agent.opening.get(key) ?? make();
    agent.opening.set(key, link);
    const joining = link.join();
    if (!(await settlesWithin(joining, Math.max(0, deadline - performance.now()), context.signal)))
      throw new BridgeError('timeout', 'The notebook is still being opened: its process or kernel starts.');
    agent.opening.delete(key);
    try {
      await joining;
      const { id = '' } = link;
      this.#assertMayCome(id);
      const known = agent.byId(id);
      // Another call of the same agent has waited for the same.
      if (known === link) return link;
      if (known === undefined) {
        const { sessionId } = context.caller;
        link.showAgents([{ id: sessionId, name: nameOfAgent(context) }]);
        this.#listening.set(
          link,
          link.subscribe((event) => this.#options.onEvent({ ...event, sessionId }, link)),
        );
        agent.add(link);
        return link;
      }
      // Named in two ways.
      void this.leave(link);
      return known;
    } catch (error) {
      void this.leave(link);
      throw error;
    }
  }

  /** The notebook goes on. */
  async leave(link: NotebookLink): Promise<void> {
    if (link === this.#options.first) return;
    if (link.isDisconnected && link.id !== undefined) this.#barred.add(link.id);
    this.#listening.get(link)?.();
    this.#listening.delete(link);
    await link.close();
  }

  #assertMayCome(id: string): void {
    for (const link of this.all()) if (link.isDisconnected && link.id !== undefined) this.#barred.add(link.id);
    if (this.#barred.has(id))
      throw new BridgeError('disconnected', 'A person disconnected this agent from that notebook. Only a person can connect it again.');
  }
}
