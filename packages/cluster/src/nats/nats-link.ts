import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiError, type JetStreamClient, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import {
  type Msg,
  type NatsConnection,
  NoRespondersError,
  PermissionViolationError,
  type Subscription,
  TimeoutError,
} from '@nats-io/transport-node';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { StoreUnavailable } from '@notebridge/system/files/shared-store';

/** How long one question to NATS may take. */
const operationMs = 2000;
const retryMs = 100;
/** No leader just now, or another server than the one that was asked. */
const notNow = new Set([10_008, 10_009]);
/** JetStream is off, for the server or the account. */
const isOff = new Set([10_039, 10_076]);
const noRoom =
  'Look for a full disk, or limits of the account, with `nats server report jetstream`, and make room: nothing runs out meanwhile.';

/** NATS has refused what it was asked for. */
export class NatsRefusal extends StoreUnavailable {
  /** Undefined: it is a right that is missing. */
  readonly code: number | undefined;
  /** True: a person has to change something first. */
  readonly isForGood: boolean;

  constructor(why: string, cause: Error, { code, isForGood = true }: { code?: number; isForGood?: boolean } = {}) {
    super(why, cause);
    this.code = code;
    this.isForGood = isForGood;
  }
}

/** One connection to NATS, which comes back by itself; and questions to JetStream over it. Nothing is thrown but to who asked. */
export class NatsLink {
  readonly connection: NatsConnection;
  /** Both are asked by `ask` alone. */
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  readonly #logger: Logger;
  readonly #listeners = new Set<(isConnected: boolean) => void>();
  readonly #reported = new Set<string>();
  #missingRight: NatsRefusal | undefined;
  #maxPayload = 1_048_576;
  #isConnected = true;
  #isClosing = false;

  private constructor(manager: JetStreamManager, connection: NatsConnection, logger: Logger) {
    this.connection = connection;
    this.manager = manager;
    this.client = manager.jetstream();
    this.#logger = logger;
    this.#follow().catch((error) => logger.error('cluster: the connection to NATS is not followed any more', { error: messageOf(error) }));
  }

  static async over(connection: NatsConnection, logger: Logger): Promise<NatsLink> {
    // The rights of the account are found out by using them: the client's own check asks for one more.
    return new NatsLink(await jetstreamManager(connection, { checkAPI: false, timeout: operationMs }), connection, logger);
  }

  get isConnected(): boolean {
    return this.#isConnected && !this.connection.isClosed();
  }

  /** What the server takes as one message, headers included; without a connection, what the last one took. Bytes. */
  get maxPayload(): number {
    this.#maxPayload = this.connection.info?.max_payload ?? this.#maxPayload;
    return this.#maxPayload;
  }

  /** The first message or subscription that nobody waited for and NATS did not let us have. */
  get missingRight(): NatsRefusal | undefined {
    return this.#missingRight;
  }

  onConnection(listener: (isConnected: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends what may be lost. Without a connection nothing is sent: what is late does harm. */
  send(subject: string, payload?: Uint8Array): void {
    if (!this.isConnected) return;
    try {
      this.connection.publish(subject, payload);
    } catch (error) {
      this.#reportOnce(`NATS does not take a message on "${subject}": ${messageOf(error)}`);
    }
  }

  listen(subject: string, listener: (message: Msg) => void): Subscription {
    return this.connection.subscribe(subject, {
      callback: (error, message) => {
        // A right that is missing: told by the status of the connection.
        if (error !== null) return;
        try {
          listener(message);
        } catch (thrown) {
          this.#logger.error('cluster: what listens to NATS has thrown', { subject, error: messageOf(thrown) });
        }
      },
    });
  }

  /**
   * Asks JetStream for what is to be done (`write "k"`, for messages). Rejects with `NatsRefusal` if it said no, and with another
   * `StoreUnavailable` if no answer came: then it may have been done. What certainly was not done is tried again for a while: nobody
   * listened, or there was no leader. `advice`: what else a person can do where there is no room.
   */
  async ask<Answer>(doing: string, question: (timeoutMs: number) => Promise<Answer>, advice = ''): Promise<Answer> {
    const untilMs = performance.now() + operationMs;
    for (;;) {
      try {
        // The client would keep it, and send it when it is late.
        if (!this.isConnected) throw new StoreUnavailable('The connection to NATS is lost. It is tried again by itself.');
        return await question(Math.max(1, Math.ceil(untilMs - performance.now())));
      } catch (error) {
        const isLate = performance.now() + retryMs * 2 > untilMs || !this.isConnected;
        if (isLate || !wasNotDone(error)) throw toUnavailable(doing, error, advice);
        await sleep(retryMs);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#listeners.clear();
    await this.connection.close();
  }

  async #follow(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') this.#setConnected(false);
      if (status.type === 'reconnect') this.#setConnected(true);
      if (status.type === 'close') this.#noteClosed();
      if (status.type !== 'error') continue;
      const { error } = status;
      if (error instanceof PermissionViolationError) {
        this.#missingRight ??= toMissingRight(error);
        this.#reportOnce(toMissingRight(error).message);
      } else this.#logger.warn('cluster: NATS reports an error', { error: error.message });
    }
  }

  #noteClosed(): void {
    if (this.#isClosing) return;
    this.#logger.error('cluster: the client of NATS has given up its connection. Start this hub again.');
    this.#setConnected(false);
  }

  #setConnected(isConnected: boolean): void {
    if (isConnected === this.#isConnected) return;
    this.#isConnected = isConnected;
    if (isConnected) this.#logger.info('cluster: connected to NATS again', { server: this.connection.getServer() });
    else this.#logger.warn('cluster: the connection to NATS is lost; it is tried again by itself');
    for (const listener of [...this.#listeners]) {
      try {
        listener(isConnected);
      } catch (error) {
        this.#logger.error('cluster: what follows the connection to NATS has thrown', { error: messageOf(error) });
      }
    }
  }

  /** A hub would say it with each message. */
  #reportOnce(text: string): void {
    if (this.#reported.has(text) || this.#reported.size > 1000) return;
    this.#reported.add(text);
    this.#logger.error(`cluster: ${text}`);
  }
}

/** True if a question certainly had no effect, and may have an answer soon: nobody listened, or the stream has no leader just now. */
function wasNotDone(error: unknown): boolean {
  const refused = causeIn(error, JetStreamApiError);
  return causeIn(error, NoRespondersError) !== undefined || (refused !== undefined && notNow.has(refused.code));
}

/** Finds what happened in what the client has wrapped once or twice. */
function causeIn<Kind extends Error>(error: unknown, kind: abstract new (...args: never[]) => Kind): Kind | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof kind) return at;
  return undefined;
}

function toUnavailable(doing: string, error: unknown, advice: string): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const violation = causeIn(error, PermissionViolationError);
  if (violation !== undefined) return toMissingRight(violation);
  const refused = causeIn(error, JetStreamApiError);
  if (refused !== undefined) return toRefusal(doing, refused, advice);
  const unheard = causeIn(error, NoRespondersError);
  if (unheard !== undefined) {
    return new StoreUnavailable(
      `Nothing at NATS answers to "${unheard.subject}". JetStream is off for this account, or too few servers of the NATS cluster run: look at them with \`nats server report jetstream\`.`,
      error,
    );
  }
  if (causeIn(error, TimeoutError) !== undefined) {
    return new StoreUnavailable(`NATS gave no answer when it was asked to ${doing}, within ${operationMs / 1000} s.`, error);
  }
  return new StoreUnavailable(`NATS: ${messageOf(error)}.`, error);
}

/** A refusal for good is to be fixed by a person; what JetStream can't do now may pass. */
function toRefusal(doing: string, error: JetStreamApiError, advice: string): StoreUnavailable {
  const { code, status, message } = error;
  if (notNow.has(code)) return new StoreUnavailable(`JetStream: ${message}.`, error);
  const isForGood = isOff.has(code) || status < 500;
  let next = isForGood ? '' : ` ${noRoom}${advice}`;
  if (isOff.has(code)) next = ' Turn JetStream on, at the server (`jetstream {}`) and for the account.';
  return new NatsRefusal(`NATS refused to ${doing}: ${message}.${next}`, error, { code, isForGood });
}

function toMissingRight(violation: PermissionViolationError): NatsRefusal {
  const { operation, subject } = violation;
  const right = operation === 'publish' ? 'publish' : 'subscribe';
  return new NatsRefusal(
    `NATS does not let this hub ${right} to "${subject}". Grant its user the right to ${right} there; docs/config.md lists all that a hub needs.`,
    violation,
  );
}
