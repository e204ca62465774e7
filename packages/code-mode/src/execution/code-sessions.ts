import { randomBytes } from 'node:crypto';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { owner, type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { firstOfGreediest } from '@notebridge/protocol/util/first-of-greediest';
import { quote } from '@notebridge/protocol/util/quote';
import type { CodeKernel } from './code-kernel.js';
import type { KernelPool } from './kernel-pool.js';

/** Variables that live from one execution to the next. */
export interface CodeSession {
  /** Under which its owner finds it; nobody can guess it. */
  readonly handle: string;
  readonly principal: Principal;
  /** The agent's own session, which this one belongs to and ends with. */
  readonly agentSession: string | undefined;
  /** It is the one that calls of that session mean which name none. */
  readonly isOwn: boolean;
  /** What holds the variables. Undefined: there are none. */
  kernel: CodeKernel | undefined;
  /** What runs and waits, one after the other. */
  queue: Promise<unknown>;
  waiting: number;
  lastUsed: number;
  /** The variables of before are gone, and the agent has not been told yet. */
  hasLost: boolean;
}

/** Handles that nobody comes back for must not fill the memory. */
const mostWithoutKernel = 1000;
/** Executions of one session that wait. */
const mostWaiting = 16;

/** The sessions of all agents: found by their handle, or by the agent's own session; ended when idle. */
export class CodeSessions {
  readonly #pool: KernelPool;
  readonly #idleMs: number;
  readonly #byHandle = new Map<string, CodeSession>();
  readonly #sweep: NodeJS.Timeout;

  constructor({ pool, idleMs }: { pool: KernelPool; idleMs: number }) {
    this.#pool = pool;
    this.#idleMs = idleMs;
    this.#sweep = setInterval(() => void this.#endIdle(), Math.max(1000, Math.min(60_000, idleMs / 4))).unref();
  }

  /**
   * The session that a call means: that of the handle, a new one for `new`, else the agent's own. Agents of the modern era over HTTP have none
   * of their own: each call without a handle begins another.
   *
   * @throws BridgeError `session_gone`
   */
  find(handle: string | undefined, { caller }: Pick<CallContext, 'caller'>): CodeSession {
    const { sessionId, door, era, principal = owner } = caller;
    if (handle !== undefined && handle !== 'new') return this.#named(handle, principal);
    const agentSession = door === 'http' && era === 'modern' ? undefined : sessionId;
    if (handle === 'new' || agentSession === undefined) return this.#add({ principal, agentSession, isOwn: false });
    const key = principalKey(principal);
    const isMeant = (one: CodeSession): boolean => one.isOwn && one.agentSession === agentSession && principalKey(one.principal) === key;
    return [...this.#byHandle.values()].find(isMeant) ?? this.#add({ principal, agentSession, isOwn: true });
  }

  /** Runs a work when those before it have ended. Rejects with `limit_reached` where too many wait. */
  async run<Result>(session: CodeSession, work: () => Promise<Result>): Promise<Result> {
    if (session.waiting >= mostWaiting)
      throw new BridgeError(
        'limit_reached',
        `${mostWaiting} executions of this session wait already. Wait for them, or use another session.`,
      );
    session.waiting++;
    const turn = session.queue.then(work);
    session.queue = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      session.waiting--;
      session.lastUsed = Date.now();
    }
  }

  /**
   * Ends the kernel of a session that is idle; it goes on without variables. Of this holder, or of who has most kernels: the one that was idle longest.
   * False if none is idle.
   */
  async endIdlest(holder?: string): Promise<boolean> {
    const [first] = [...this.#byHandle.values()]
      .filter(({ kernel, waiting }) => kernel !== undefined && waiting === 0)
      .map((session) => ({ session, of: principalKey(session.principal) }))
      .filter(({ of }) => holder === undefined || of === holder)
      .map(({ session, of }) => ({ session, count: this.#pool.countOf(of) }))
      .sort((one, other) => other.count - one.count || one.session.lastUsed - other.session.lastUsed);
    if (first === undefined) return false;
    await this.drop(first.session);
    return true;
  }

  /** The variables are gone. */
  async drop(session: CodeSession): Promise<void> {
    const { kernel } = session;
    if (kernel === undefined) return;
    session.kernel = undefined;
    session.hasLost = true;
    await this.#pool.end(kernel);
  }

  /** An agent's own session has ended. What still runs there was answered with a run_id: it ends by itself. */
  async endSession(sessionId: string): Promise<void> {
    const ended = [...this.#byHandle.values()].filter(({ agentSession }) => agentSession === sessionId);
    await Promise.all(ended.map((session) => this.#end(session)));
  }

  /** The kernels are ended by the pool. Closing twice is harmless. */
  close(): void {
    clearInterval(this.#sweep);
    this.#byHandle.clear();
  }

  #named(handle: string, principal: Principal): CodeSession {
    const found = this.#byHandle.get(handle);
    // Another's is answered like one that never was.
    if (found !== undefined && principalKey(found.principal) === principalKey(principal)) return found;
    throw new BridgeError(
      'session_gone',
      `There is no session ${quote(handle)} of yours: it was idle for too long, ended with its agent, or never was. Its variables are gone. Nothing was run: call execute_code without "session", and set up again what the code needs.`,
    );
  }

  #add(about: Pick<CodeSession, 'principal' | 'agentSession' | 'isOwn'>): CodeSession {
    const session: CodeSession = {
      ...about,
      handle: randomBytes(16).toString('base64url'),
      kernel: undefined,
      queue: Promise.resolve(),
      waiting: 0,
      lastUsed: Date.now(),
      hasLost: false,
    };
    this.#byHandle.set(session.handle, session);
    this.#forgetOldest();
    return session;
  }

  #forgetOldest(): void {
    if (this.#byHandle.size <= mostWithoutKernel) return;
    const unused = [...this.#byHandle.values()].filter(({ kernel, waiting }) => kernel === undefined && waiting === 0);
    const oldest = firstOfGreediest(unused, { of: ({ principal }) => principalKey(principal) });
    if (oldest !== undefined) void this.#end(oldest);
  }

  async #endIdle(): Promise<void> {
    const before = Date.now() - this.#idleMs;
    const idle = [...this.#byHandle.values()].filter(({ waiting, lastUsed }) => waiting === 0 && lastUsed < before);
    await Promise.all(idle.map((session) => (session.agentSession === undefined ? this.#end(session) : this.drop(session))));
  }

  async #end(session: CodeSession): Promise<void> {
    this.#byHandle.delete(session.handle);
    await session.queue;
    await this.drop(session);
  }
}
