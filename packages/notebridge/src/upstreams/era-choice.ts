import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ServerConfig } from '../config/server-config.js';
import type { EraVerdicts } from './era-verdicts.js';

/** How a connection is opened. */
export interface Opening {
  era: ServerConfig['era'];
  /** The era to ask for first, with `auto`; undefined: nothing is known. */
  known: Era | undefined;
  /** The server has just ended over another question. */
  isSecond?: true;
  /** An agent wants it so: what is learnt says nothing of what others should ask for first. */
  isForAgent?: true;
}

/**
 * Decides, for one running server, which era it is asked for in each start. Some servers end when they do not understand the first
 * message; one that ends whatever it is asked is not started twice as often for that.
 */
export class EraChoice {
  readonly #config: ServerConfig;
  readonly #verdicts: EraVerdicts;
  /** Both questions have ended it: from then on each start asks one of them first, in turns. */
  #turn: 'initialize' | 'server/discover' | undefined;

  readonly #eraOfAgent: () => Era | undefined;

  constructor(config: ServerConfig, verdicts: EraVerdicts, eraOfAgent: () => Era | undefined = () => undefined) {
    this.#config = config;
    this.#verdicts = verdicts;
    this.#eraOfAgent = eraOfAgent;
  }

  begin(): Opening {
    // The older transport has no modern era.
    const era = this.#config.transport === 'sse' && this.#config.era === 'auto' ? 'legacy' : this.#config.era;
    if (era !== 'auto') return { era, known: undefined };
    if (this.#turn === undefined && this.#eraOfAgent() === 'legacy') return { era, known: 'legacy', isForAgent: true };
    if (this.#turn === undefined) return { era, known: this.#verdicts.find(this.#config) };
    return { era, known: this.#turn === 'initialize' ? 'legacy' : undefined };
  }

  /** It runs; `shown` is what `performHandshake` has found out. */
  succeed({ era, isForAgent }: Opening, shown: Era | undefined): void {
    this.#turn = undefined;
    if (era !== 'auto' || isForAgent) return;
    if (shown !== undefined) this.#verdicts.keep(this.#config, shown);
    else if (this.#verdicts.find(this.#config) === undefined) this.#verdicts.keep(this.#config, 'legacy');
  }

  /** It did not start; `hasEnded`: it, or the connection, ended over a question. How to open it again at once; undefined: the start has failed. */
  fail({ era, known, isSecond, isForAgent }: Opening, hasEnded: boolean): Opening | undefined {
    if (era !== 'auto') return undefined;
    if (isForAgent) return hasEnded ? { era, known: undefined, isSecond: true } : undefined;
    this.#verdicts.drop(this.#config);
    if (!hasEnded) return undefined;
    if (isSecond) this.#turn = 'initialize';
    else if (this.#turn !== undefined) this.#turn = this.#turn === 'initialize' ? 'server/discover' : 'initialize';
    else if (known !== 'legacy') return { era, known: 'legacy', isSecond: true };
    return undefined;
  }
}
