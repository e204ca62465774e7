import type { NotebookHost } from '@notebridge/notebook/host';

/** An agent as windows show it. */
export interface ShownAgent {
  id: string;
  name: string;
}

/** The agents of a notebook, from every process that has joined it, as one list for its windows. */
export class AgentRoster {
  readonly #host: Pick<NotebookHost, 'setAgents' | 'onDisconnectAgent'>;
  readonly #sources = new Map<string, readonly ShownAgent[]>();

  constructor(host: Pick<NotebookHost, 'setAgents' | 'onDisconnectAgent'>) {
    this.#host = host;
  }

  /** The agents of one process; an empty list takes them away. */
  show(source: string, agents: readonly ShownAgent[]): void {
    if (agents.length === 0 && !this.#sources.has(source)) return;
    if (agents.length > 0) this.#sources.set(source, agents);
    else this.#sources.delete(source);
    this.#host.setAgents([...this.#sources].flatMap(([from, all]) => all.map(({ id, name }) => ({ id: `${from}.${id}`, name }))));
  }

  /** Called with the source of an agent that a person disconnects. */
  onDisconnect(listener: (source: string) => void): () => void {
    return this.#host.onDisconnectAgent((id) => listener(id.slice(0, id.indexOf('.'))));
  }
}
