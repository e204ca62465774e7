import type { LeaseState } from '@notebridge/notebook/host';

/** An agent, as calls and windows know it. */
export interface LeaseAgent {
  /** Lasts as long as its connection or session. */
  id: string;
  name: string;
}

/** `changed`: somebody else got it meanwhile. `withdrawn`: whoever asked does not want it any more, or is gone. */
export type LeaseAnswer = 'yes' | 'no' | 'changed' | 'withdrawn';

export interface LeaseQuestion {
  readonly id: number;
  readonly agent: LeaseAgent;
  readonly reason: string | undefined;
  readonly answer: Promise<LeaseAnswer>;
  readonly settle: (answer: LeaseAnswer) => void;
  /** How many calls wait for the answer. */
  waiting: number;
  askedAt: number;
}

/** What agents ask of a person and nobody has answered, oldest first: one question of an agent, however often it asks. */
export class LeaseQuestions {
  readonly #now: () => number;
  readonly #idleMs: number;
  readonly #open = new Map<number, LeaseQuestion>();
  #lastId = 0;

  constructor({ now, idleMs }: { now: () => number; idleMs: number }) {
    this.#now = now;
    this.#idleMs = idleMs;
  }

  get all(): readonly LeaseQuestion[] {
    return [...this.#open.values()];
  }

  get shown(): LeaseState['asking'] {
    return this.all.map(({ id, agent, reason }) => ({
      questionId: id,
      id: agent.id,
      name: agent.name,
      ...(reason === undefined ? {} : { reason }),
    }));
  }

  find(id: number): LeaseQuestion | undefined {
    return this.#open.get(id);
  }

  ask(agent: LeaseAgent, reason: string | undefined): LeaseQuestion {
    const known = this.all.find((question) => question.agent.id === agent.id);
    if (known !== undefined) {
      known.waiting++;
      known.askedAt = this.#now();
      return known;
    }
    let settle: (answer: LeaseAnswer) => void = () => {};
    const answer = new Promise<LeaseAnswer>((resolve) => {
      settle = resolve;
    });
    const question = { id: ++this.#lastId, agent, reason, answer, settle, waiting: 1, askedAt: this.#now() };
    this.#open.set(question.id, question);
    return question;
  }

  settle(question: LeaseQuestion, answer: LeaseAnswer): void {
    this.#open.delete(question.id);
    question.settle(answer);
  }

  settleAll(answer: LeaseAnswer, fits: (question: LeaseQuestion) => boolean = () => true): void {
    for (const question of this.all) if (fits(question)) this.settle(question, answer);
  }

  /** Takes back what nobody waits for any more. True if there was such a question. */
  expire(): boolean {
    const old = this.all.filter(({ waiting, askedAt }) => waiting === 0 && this.#now() - askedAt >= this.#idleMs);
    for (const question of old) this.settle(question, 'withdrawn');
    return old.length > 0;
  }
}
