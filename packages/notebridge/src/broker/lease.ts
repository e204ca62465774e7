import type { LeaseState } from '@notebridge/notebook/host';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { WatchedLease } from '../notebooks/watched-notebooks.js';
import { type Holding, heldError, nobodyError, refusedError, takenAwayError } from './lease-errors.js';
import { type LeaseAgent, type LeaseAnswer, LeaseQuestions } from './lease-questions.js';

/** Whom a lease is shown to, and who decides about it: a window of the notebook, or a page that can ask. */
export interface LeasePerson {
  /** Whether somebody is there to be asked. */
  canAsk(): boolean;
  show(state: LeaseState): void;
}

export interface LeaseOptions {
  /** A lease ends so long after the last call of its holder and the last run. Milliseconds. Default five minutes. */
  idleMs?: number | undefined;
  /** `take_over` waits so long for the person. Milliseconds. Default 40,000: less than agents wait for a call. */
  askMs?: number;
  /** Whether code runs or waits: nobody has left then. */
  isRunning: () => boolean;
  /** Left out: nobody can be asked, ever. */
  person?: LeasePerson | undefined;
  /** What else there is to do where nobody can be asked, as a sentence. */
  nextStep: string;
  /** Milliseconds that never jump. */
  now?: () => number;
}

/** What came of `take_over`. */
export type TakeOver = { status: 'yours'; since: number } | { status: 'asked' };

interface Hold extends Holding {
  usedAt: number;
  /** Calls that it let in. */
  admitted: number;
  /** It was asked for, by `take_over`; else a call has taken it because it was free. */
  isAskedFor: boolean;
}

/** After a no, the same agent asks the person anew only after so long. Milliseconds. */
const quietMs = 60_000;
const mostNames = 1000;
const shortestLookMs = 20;
const longestLookMs = 15_000;

/**
 * Which of a notebook's agents changes and runs; all others read. The first that writes has it, until it is gone, or has called nothing for
 * long. How fast its process answers says nothing: one that works hard answers late.
 */
export class Lease implements WatchedLease {
  /** The state is another one. */
  readonly changed = new Listeners<void>();
  readonly #options: LeaseOptions & Required<Pick<LeaseOptions, 'askMs'>> & { idleMs: number };
  readonly #now: () => number;
  readonly #questions: LeaseQuestions;
  /** From whom a person has taken the notebook away: they get it back by a person's word alone. */
  readonly #barred = new Set<string>();
  readonly #refusedAt = new Map<string, number>();
  readonly #inFlight = new Map<string, number>();
  /** What each agent calls itself that has called, as long as it is there. */
  readonly #names = new Map<string, string>();
  #hold: Hold | undefined;
  #lastCall: { agent: string; at: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ idleMs = 5 * 60_000, askMs = 40_000, ...options }: LeaseOptions) {
    this.#options = { ...options, idleMs, askMs };
    this.#now = options.now ?? (() => performance.now());
    this.#questions = new LeaseQuestions({ now: this.#now, idleMs });
  }

  get state(): LeaseState {
    const { name, id } = this.#hold?.agent ?? {};
    const holder = this.#hold && id !== undefined && name !== undefined ? { id, name, since: this.#hold.since } : null;
    return { holder, asking: this.#questions.shown, barred: [...this.#barred] };
  }

  /** The last call of any agent. Milliseconds since the epoch. */
  get lastCall(): { agent: string; at: number } | undefined {
    return this.#lastCall;
  }

  nameOf(agentId: string): string | undefined {
    return this.#names.get(agentId);
  }

  /** A call of the agent begins, whatever it does. Returns the function that ends it. */
  begin({ id, name }: LeaseAgent): () => void {
    this.#noteName(id, name);
    this.#lastCall = { agent: name, at: Date.now() };
    const count = (by: number): void => {
      const calls = (this.#inFlight.get(id) ?? 0) + by;
      if (calls > 0) this.#inFlight.set(id, calls);
      else this.#inFlight.delete(id);
      if (this.#hold?.agent.id === id) this.#hold.usedAt = this.#now();
    };
    count(1);
    return () => count(-1);
  }

  /**
   * Before a call that changes or runs something: takes a lease that is free. Returns what is to be called if the call has done nothing: a
   * lease that it alone was taken for is free again. Rejects with `held`.
   */
  async admit(agent: LeaseAgent): Promise<() => void> {
    if (!this.#isYours(agent, false)) throw this.#hold === undefined ? takenAwayError() : heldError(this.#hold, this.#options);
    const hold = this.#hold;
    if (hold !== undefined) hold.admitted++;
    return () => {
      if (hold === undefined || this.#hold !== hold || hold.isAskedFor || hold.admitted > 1) return;
      this.#free();
      this.#show();
    };
  }

  /**
   * Gets the lease at once where it is free, else asks the person. `asked`: nobody has answered yet, and the question stays. Rejects with
   * `held`: nobody can be asked, or the person said no.
   */
  async takeOver(
    agent: LeaseAgent,
    { reason, cancellation }: { reason?: string | undefined; cancellation: Cancellation },
  ): Promise<TakeOver> {
    if (this.#isYours(agent, true)) return this.#yours();
    const { person, askMs } = this.#options;
    if (this.#now() - (this.#refusedAt.get(agent.id) ?? -quietMs) < quietMs) throw refusedError(this.#hold);
    if (person?.canAsk() !== true) throw nobodyError(this.#hold, this.#options);
    const question = this.#questions.ask(agent, reason);
    let isWaiting = true;
    cancellation.onCancel(() => {
      if (!isWaiting || question.waiting > 1) return;
      this.#questions.settle(question, 'withdrawn');
      this.#show();
    });
    this.#show();
    const isAnswered = await settlesWithin(question.answer, askMs);
    isWaiting = false;
    question.waiting--;
    if (!isAnswered) {
      if (person.canAsk()) return { status: 'asked' };
      throw nobodyError(this.#hold, this.#options);
    }
    return this.#outcomeOf(await question.answer);
  }

  /** What a person says to a question. False if nobody asks it any more. */
  answer(questionId: number, isYes: boolean): boolean {
    const question = this.#questions.find(questionId);
    if (question === undefined) return false;
    const { agent } = question;
    if (isYes) {
      this.#barred.delete(agent.id);
      this.#give(agent, true);
    } else {
      this.#refusedAt.set(agent.id, this.#now());
      this.#questions.settle(question, 'no');
      this.#show();
    }
    return true;
  }

  /** A person takes the notebook away from an agent, which only looks from then on, or lets it write again. */
  setMayHold(agentId: string, may: boolean): void {
    if (may) this.#barred.delete(agentId);
    else this.#barred.add(agentId);
    if (!may && this.#hold?.agent.id === agentId) this.#free();
    this.#show();
  }

  /** Agents that are gone. */
  leave(isGone: (agentId: string) => boolean): void {
    for (const known of [this.#barred, this.#refusedAt, this.#inFlight, this.#names])
      for (const id of [...known.keys()]) if (isGone(id)) known.delete(id);
    this.#questions.settleAll('withdrawn', ({ agent }) => isGone(agent.id));
    if (this.#hold !== undefined && isGone(this.#hold.agent.id)) this.#free();
    this.#show();
  }

  /** The user ends the lease from outside. Returns the name of who had it. */
  release(): string | undefined {
    const name = this.#hold?.agent.name;
    this.#free();
    this.#show();
    return name;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#questions.settleAll('withdrawn');
  }

  /** Code calls as well, and not all of it ever says that it is gone. */
  #noteName(id: string, name: string): void {
    this.#names.set(id, name);
    for (const oldest of this.#names.keys()) {
      if (this.#names.size <= mostNames) break;
      this.#names.delete(oldest);
    }
  }

  /** True if the agent has the lease, or gets it now, since it is free. */
  #isYours(agent: LeaseAgent, isAskedFor: boolean): boolean {
    this.#look();
    const hold = this.#hold;
    if (hold === undefined) {
      if (this.#barred.has(agent.id)) return false;
      this.#give(agent, isAskedFor);
      return true;
    }
    if (hold.agent.id !== agent.id) return false;
    hold.isAskedFor ||= isAskedFor;
    return true;
  }

  #outcomeOf(answer: LeaseAnswer): TakeOver {
    if (answer === 'yes') return this.#yours();
    if (answer === 'no') throw refusedError(this.#hold);
    throw this.#hold === undefined ? takenAwayError() : heldError(this.#hold, this.#options);
  }

  #yours(): TakeOver {
    return { status: 'yours', since: this.#hold?.since ?? Date.now() };
  }

  #give(agent: LeaseAgent, isAskedFor: boolean): void {
    this.#hold = { agent, since: Date.now(), usedAt: this.#now(), admitted: 0, isAskedFor };
    // The person has answered those as well: they asked for it from somebody else.
    this.#questions.settleAll('yes', (question) => question.agent.id === agent.id);
    this.#questions.settleAll('changed');
    const lookMs = Math.min(longestLookMs, Math.max(shortestLookMs, this.#options.idleMs / 4));
    if (!this.#isClosed) this.#timer ??= setInterval(() => this.#look(), lookMs).unref();
    this.#show();
  }

  /** Whoever has asked first gets what is free. */
  #free(): void {
    this.#hold = undefined;
    const next = this.#questions.all.find(({ agent }) => !this.#barred.has(agent.id));
    if (next !== undefined) this.#give(next.agent, true);
  }

  /** Ends what nobody uses any more. */
  #look(): void {
    const hold = this.#hold;
    const hasExpired = this.#questions.expire();
    if (hold !== undefined && (this.#inFlight.has(hold.agent.id) || this.#options.isRunning())) hold.usedAt = this.#now();
    const isIdle = hold !== undefined && this.#now() - hold.usedAt >= this.#options.idleMs;
    if (isIdle) this.#free();
    if (isIdle || hasExpired) this.#show();
    if (this.#hold !== undefined || this.#questions.all.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #show(): void {
    if (this.#isClosed) return;
    this.#options.person?.show(this.state);
    this.changed.emit();
  }
}
