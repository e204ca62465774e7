import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Era } from '@notebridge/protocol/core/protocol-versions';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { ServerState, ServerStatus } from '@notebridge/protocol/core/tool-server';
import type { JsonObject } from '@notebridge/protocol/json';
import type { AskedCalls } from '@notebridge/protocol/questions/asked-calls';
import { WaitQueue } from '@notebridge/protocol/rpc/wait-queue';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { Throttle } from '@notebridge/protocol/util/throttle';
import type { FileWatch } from '@notebridge/system/files/private-file';
import type { Environment } from '@notebridge/system/processes/environment';
import type { ServerConfig } from '../config/server-config.js';
import { EraChoice, type Opening } from './era-choice.js';
import type { EraVerdicts } from './era-verdicts.js';
import { performHandshake } from './handshake.js';
import { LastLines } from './last-lines.js';
import { fromFaultAnswer, type Link, type LinkOptions, type OpenLink, startFaultOf } from './link.js';
import type { Logins } from './oauth/logins.js';
import { RestartPolicy } from './restart-policy.js';
import { StartClock } from './start-clock.js';
import { explainStart, type StartFault, unavailable } from './unavailable.js';
import type { UpstreamLimits } from './upstream-limits.js';
import { UpstreamSession } from './upstream-session.js';

export interface ServerInstanceOptions {
  config: ServerConfig;
  openLink: OpenLink;
  clientInfo: JsonObject;
  limits: UpstreamLimits;
  eras: EraVerdicts;
  logger: Logger;
  redact: (text: string) => string;
  paramHeadersOf: LinkOptions['paramHeadersOf'];
  logins: Logins;
  env: Environment;
  /** Nothing is started before: what had this name ends first. */
  after?: Promise<void> | undefined;
  onState: () => void;
  /** A session is there: the first one, or another after a restart. */
  onReady: (session: UpstreamSession) => void;
  onNotification: (event: ProviderEvent) => void;
  /** Left out: a server of the legacy era may ask nothing. */
  questions?: { askable: () => JsonObject; calls: AskedCalls } | undefined;
  /** The era of the one agent for which it runs: it is asked for first. Left out: it runs for all. */
  eraOfAgent?: (() => Era | undefined) | undefined;
}

/** Faults of a server that it repeats are logged once in this time. Milliseconds. */
const faultIntervalMs = 1000;

/**
 * One running server, kept running:
 *
 *     stopped ──start──▶ starting ──initialized──▶ running ──ends by itself──▶ restarting ──initialized──▶ running
 *        ▲                  │ bad starts in a row                                 │ bad starts in a row
 *        └── stop           └──────────────▶ failed ◀─────────────────────────────┘     failed ──a call, a start──▶ starting
 */
export class ServerInstance {
  readonly #options: ServerInstanceOptions;
  readonly #policy = new RestartPolicy();
  readonly #eras: EraChoice;
  readonly #stderr = new LastLines();
  readonly #faults = new Throttle(faultIntervalMs);
  readonly #waiting = new WaitQueue<UpstreamSession>();
  status: ServerStatus = 'stopped';
  /** For people. Durations go by `#enteredAt`: the clock may be set. */
  #since = Date.now();
  #enteredAt = performance.now();
  readonly #starting: StartClock;
  #reason: string | undefined;
  #starts = 0;
  /** The live session, for callers that cannot wait. */
  session: UpstreamSession | undefined;
  #link: Link | undefined;
  #opening: AbortController | undefined;
  /** Ends when what ran before is gone. */
  #gone: Promise<void>;
  #pause: NodeJS.Timeout | undefined;
  /** Another number for each life: events of an earlier one are ignored. */
  #life = 0;
  #isClosed = false;
  /** A person has to log in before another start can succeed: what callers get, and how that is waited for. */
  #login: { required: BridgeError; waiting: FileWatch } | undefined;

  constructor(options: ServerInstanceOptions) {
    this.#options = options;
    this.#starting = new StartClock(options.limits);
    this.#eras = new EraChoice(options.config, options.eras, options.eraOfAgent);
    this.#gone = options.after ?? Promise.resolve();
  }

  get state(): Omit<ServerState, 'inFlight'> {
    const handshake = this.session?.handshake;
    const pid = this.#link?.pid;
    return {
      status: this.status,
      since: this.#since,
      restarts: Math.max(0, this.#starts - 1),
      ...(this.#starting.isLate && { isLate: true }),
      ...(this.#reason !== undefined && { reason: this.#reason }),
      ...(pid !== undefined && { pid }),
      ...(handshake && { protocolVersion: handshake.protocolVersion, ...(handshake.serverInfo && { serverInfo: handshake.serverInfo }) }),
    };
  }

  /** Waits for a session; starts the server if nobody has. Rejects with `upstream_unavailable` or `cancelled`. */
  ready(cancellation?: Cancellation): Promise<UpstreamSession> {
    if (this.session !== undefined) return Promise.resolve(this.session);
    const { limits } = this.#options;
    if (this.#isClosed) return Promise.reject(this.#unavailable());
    if (this.status === 'failed') {
      const hasLogin = this.#login?.waiting.hasChanged() === true;
      if (!hasLogin && performance.now() - this.#enteredAt < limits.coolDownMs) return Promise.reject(this.#unavailable());
      this.#policy.allowOne();
    }
    if (this.status === 'failed' || this.status === 'stopped') this.#begin('starting');
    else if (this.#pause !== undefined && this.#policy.isLongDown) {
      // Tried again every now and then: a call does not wait for that, but may make it sooner.
      if (performance.now() - this.#enteredAt < limits.coolDownMs) return Promise.reject(this.#unavailable());
      this.#begin(this.status === 'starting' ? 'starting' : 'restarting');
    }
    return this.#waiting.wait({ cancellation, timeoutMs: limits.startTimeoutMs, onTimeout: () => this.#unavailable() });
  }

  /** Starts it, if it does not run or was given up. Resolves when it runs or is given up, at the latest after the start time-out. */
  async start(): Promise<void> {
    if (this.#isClosed) return;
    if (this.status === 'failed') this.#policy.reset();
    if (this.status === 'failed' || this.status === 'stopped') this.#begin('starting');
    if (this.status === 'starting' || this.status === 'restarting') await this.ready().catch(() => {});
  }

  /** Ends it and its whole tree; calls under way fail. It may be started again. Stopping twice is harmless. */
  stop(why: string): Promise<void> {
    const error = unavailable(this.#options.config.name, `"${this.#options.config.name}" was stopped: ${why}.`, 'unknown');
    this.#end(error);
    this.#login?.waiting.stop();
    this.#login = undefined;
    this.#policy.reset();
    this.#waiting.failAll(error);
    if (this.status !== 'stopped') this.#enter('stopped', this.#isClosed ? why : undefined);
    return this.#gone;
  }

  /** Stops it permanently. Closing twice is harmless. */
  close(why: string): Promise<void> {
    this.#isClosed = true;
    return this.stop(why);
  }

  /** Begins another life. */
  #begin(status: 'starting' | 'restarting'): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#login?.waiting.stop();
    this.#login = undefined;
    if (this.status !== status) this.#enter(status, status === 'restarting' ? this.#reason : undefined);
    const life = ++this.#life;
    this.#starts++;
    this.#open(life).then(
      (session) => this.#run(session),
      (error: unknown) => {
        if (life !== this.#life) return;
        const fault = startFaultOf(error);
        const required = loginRequiredOf(error);
        if (required !== undefined) this.#waitForLogin(required);
        this.#recover(`It did not start: ${fault?.message ?? explainStart(error, this.#options.limits)}`, this.#pauseAfterFault(fault));
      },
    );
  }

  /** Connects and does the handshake; once more, in the other era, if the server ends over the first message. */
  async #open(life: number): Promise<UpstreamSession> {
    const { config, clientInfo, limits, logger, questions } = this.#options;
    await this.#gone;
    this.#assertCurrent(life);
    this.#stderr.clear();
    const deadline = performance.now() + limits.startTimeoutMs;
    for (let opening: Opening | undefined = this.#eras.begin(); ; ) {
      const { link, session } = await this.#connect(life, deadline);
      const timeoutMs = Math.max(1, deadline - performance.now());
      const silenceMs = Math.min(limits.eraSilenceMs, timeoutMs / 2);
      try {
        const shown = await performHandshake(session, {
          ...opening,
          clientInfo,
          askable: questions?.askable() ?? {},
          timeoutMs,
          silenceMs,
        });
        this.#assertCurrent(life);
        this.#eras.succeed(opening, shown);
        return session;
      } catch (error) {
        const hasEnded = session.isClosed && startFaultOf(error) === undefined;
        session.close(unavailable(config.name, `"${config.name}" did not start.`, 'no'));
        this.#assertCurrent(life);
        opening = this.#eras.fail(opening, hasEnded);
        if (opening === undefined) throw error;
        logger.debug(`"${config.name}" ended over the first message, and is asked for the other era.`, { server: config.name });
        // Its tree is gone before it is started again.
        await link.close();
        this.#assertCurrent(life);
      }
    }
  }

  /** Whatever was opened is in `#link` at once, so that `stop` finds it. */
  async #connect(life: number, deadline: number): Promise<{ link: Link; session: UpstreamSession }> {
    const { config, openLink, clientInfo, limits, logger, paramHeadersOf, questions, logins, env } = this.#options;
    const opening = new AbortController();
    this.#opening = opening;
    const timer = setTimeout(() => opening.abort(), Math.max(1, deadline - performance.now()));
    const onUnreadable = (error: unknown): void => this.#reportFault(error);
    const onStderrLine = (line: string): void => this.#onEvent(line);
    const mayAsk = questions !== undefined;
    const options = { logger, maxMessageLength: limits.maxMessageBytes, onStderrLine, onUnreadable, mayAsk, paramHeadersOf, logins, env };
    const link = await openLink(config, { ...options, signal: opening.signal }).finally(() => clearTimeout(timer));
    if (life !== this.#life) await link.close();
    this.#assertCurrent(life);
    this.#link = link;
    this.#options.onState();
    const session: UpstreamSession = new UpstreamSession({
      link,
      clientInfo,
      onNotification: (event) => this.#options.onNotification(event),
      onQuestion: questions && ((question, asking, during) => questions.calls.take(question, asking, during)),
      onPush: (tool) => this.#options.eras.notePush(config, tool),
      onLateAnswer: (id) => questions?.calls.settle(id),
      onFault: (error) => this.#reportFault(error),
      onClose: (error) => {
        questions?.calls.settle();
        if (this.session === session) this.#lose(error);
      },
    });
    return { link, session };
  }

  #assertCurrent(life: number): void {
    if (life !== this.#life) throw unavailable(this.#options.config.name, `"${this.#options.config.name}" was stopped.`, 'no');
  }

  #waitForLogin(required: BridgeError): void {
    const { logins, config } = this.#options;
    this.#login?.waiting.stop();
    this.#login = { required, waiting: logins.watch(config, () => void this.start()) };
  }

  #run(session: UpstreamSession): void {
    this.session = session;
    this.#policy.start();
    this.#enter('running');
    this.#options.onReady(session);
    this.#waiting.settleAll(session);
  }

  /** It ended by itself. Its calls have failed already. */
  #lose(error: Error | undefined): void {
    const how = error instanceof BridgeError && typeof error.data.how === 'string' ? error.data.how : messageOf(error);
    this.#recover(`It ended: ${how}`, this.#policy.pauseAfter(performance.now() - this.#enteredAt));
  }

  /** A program that does not start has a fault; an address where nothing answers may have an answer soon. */
  #pauseAfterFault(fault: StartFault | undefined): number | undefined {
    if (fault?.lasting === true) return undefined;
    return fault !== undefined && this.#options.config.transport !== 'stdio' ? this.#policy.pauseWhileDown() : this.#policy.pauseAfter(0);
  }

  /** Starts it again after a pause; undefined: gives up. */
  #recover(what: string, pauseMs: number | undefined): void {
    const reason = this.#options.redact(this.#stderr.appendTo(what));
    this.#end();
    const { name } = this.#options.config;
    if (pauseMs === undefined) {
      this.#enter('failed', reason);
      this.#options.logger.error(`"${name}" is given up: ${reason}`, { server: name });
      this.#waiting.failAll(this.#unavailable());
      return;
    }
    this.#options.logger.warn(`"${name}" is started again. ${reason}`, { server: name, pause_ms: Math.round(pauseMs) });
    const status = this.status === 'starting' ? 'starting' : 'restarting';
    this.#enter(status, reason);
    if (this.#policy.isLongDown) this.#waiting.failAll(this.#unavailable());
    this.#pause = setTimeout(() => this.#begin(status), pauseMs);
  }

  /** Releases the connection, and drops pending work. */
  #end(error?: Error): void {
    this.#life++;
    clearTimeout(this.#pause);
    this.#pause = undefined;
    const [session, link, opening] = [this.session, this.#link, this.#opening];
    this.session = undefined;
    this.#link = undefined;
    this.#opening = undefined;
    // A link that is aborted may end at once: by then it is nobody's, so that its end is no reason to start again.
    opening?.abort();
    session?.close(error ?? unavailable(this.#options.config.name, 'It ended.', 'unknown'));
    if (link !== undefined) this.#gone = Promise.all([this.#gone, link.close()]).then(() => {});
  }

  #enter(status: ServerStatus, reason?: string): void {
    if (status !== this.status) this.#since = Date.now();
    this.status = status;
    this.#enteredAt = performance.now();
    this.#starting.enter(status);
    this.#reason = reason;
    this.#options.onState();
  }

  #unavailable(): BridgeError {
    if (this.#login !== undefined) return this.#login.required;
    const { name } = this.#options.config;
    const why = this.#reason ?? `it did not start within ${this.#options.limits.startTimeoutMs} ms`;
    return unavailable(name, `"${name}" is not available (${this.status}). ${why}`, 'no');
  }

  #onEvent(line: string): void {
    const text = this.#options.redact(line);
    this.#stderr.add(text);
    this.#options.logger.info(text, { server: this.#options.config.name, stream: 'stderr' });
  }

  /** Noise on stdout, an answer to a call that was never made: logged, but no more often than a person can read. */
  #reportFault(error: unknown): void {
    const code = codeOf(error) ?? 'unknown';
    const { name } = this.#options.config;
    this.#faults.run(code, () =>
      this.#options.logger.warn(`Skipped a message of "${name}".`, { server: name, code, error: this.#options.redact(messageOf(error)) }),
    );
  }
}

function loginRequiredOf(error: unknown): BridgeError | undefined {
  const fault = fromFaultAnswer(error);
  return fault instanceof BridgeError && fault.code === 'login_required' ? fault : undefined;
}
