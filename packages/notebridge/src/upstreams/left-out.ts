import type { Logger } from '@notebridge/kit/logger';
import type { ListMethod } from '../core/list-methods.js';
import type { LeftOutEntry } from '../core/tool-server.js';

/** A server whose whole list is faulty must not fill the log. */
const maxLogged = 5;
/** Entries that were reported are remembered, so many of them. */
const maxReported = 2000;

/** Reports what a server lists and no agent is shown: each entry once, since lists are read again and again. */
export class LeftOutLog {
  readonly #server: string;
  readonly #logger: Logger;
  readonly #reported = new Set<string>();

  constructor(server: string, logger: Logger) {
    this.#server = server;
    this.#logger = logger;
  }

  report(method: ListMethod, { leftOut, changed }: { leftOut: readonly LeftOutEntry[]; changed: number }): void {
    const server = this.#server;
    const news = leftOut.filter(({ what, why }) => this.#isNew(`${method} ${what} ${why}`));
    for (const { what, why } of news.slice(0, maxLogged))
      this.#logger.warn(`Of "${server}" is left out: ${what}, since ${why}.`, { server });
    if (news.length > maxLogged)
      this.#logger.warn(`Of "${server}" ${news.length - maxLogged} more entries of "${method}" are left out.`, { server });
    if (changed > 0 && this.#isNew(`${method} ${changed}`))
      this.#logger.info(`${changed} entries of "${method}" of "${server}" are passed on changed: clients would refuse the whole list.`, {
        server,
      });
  }

  #isNew(key: string): boolean {
    if (this.#reported.has(key)) return false;
    if (this.#reported.size < maxReported) this.#reported.add(key);
    return true;
  }
}
