import { HostError } from '../session/host-error.js';

/** A host of another notebook, as far as its opener needs it. */
export interface BesideHost {
  /** Another address at each reading; each opens one window. */
  readonly url: string;
  start(): Promise<void>;
  close(): Promise<void>;
}

const maxHosts = 16;

/** Notebooks that were opened from the window of another one. They end with it. */
export class BesideHosts {
  readonly #create: (file: string) => BesideHost;
  readonly #hosts = new Map<string, Promise<BesideHost>>();
  #isClosed = false;

  constructor(create: (file: string) => BesideHost) {
    this.#create = create;
  }

  /** Opens a notebook, or finds the one that is open. Rejects as `start` does, and with `not_openable_here` beyond 16. */
  async open(file: string): Promise<{ url: string }> {
    const host = this.#hosts.get(file) ?? this.#start(file);
    return { url: (await host).url };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const closing = [...this.#hosts.values()].map(async (host) => (await host.catch(() => undefined))?.close());
    this.#hosts.clear();
    const failed = (await Promise.allSettled(closing)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  #start(file: string): Promise<BesideHost> {
    if (this.#isClosed || this.#hosts.size >= maxHosts) {
      const why = this.#isClosed ? 'the notebook is closing' : `${maxHosts} notebooks are open beside this one`;
      const text = `Another notebook cannot be opened here: ${why}. Run: notebridge notebook ${JSON.stringify(file)}`;
      return Promise.reject(new HostError('not_openable_here', text));
    }
    const starting = (async () => {
      const host = this.#create(file);
      await host.start();
      return host;
    })();
    this.#hosts.set(file, starting);
    starting.catch(() => this.#hosts.delete(file));
    return starting;
  }
}
