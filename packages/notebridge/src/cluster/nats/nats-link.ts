import { setTimeout as sleep } from 'node:timers/promises';
import {
  headers as createHeaders,
  type Msg,
  type NatsConnection,
  NoRespondersError,
  PermissionViolationError,
  type Subscription,
  TimeoutError,
} from '@nats-io/transport-node';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import { StoreUnavailable } from '../../state/shared-store.js';

/** How long one question to NATS may take. */
export const operationMs = 2000;
const retryMs = 100;
/** No leader just now, or another server than the one that was asked. */
const notNow = new Set([10_008, 10_009]);

/** NATS does not let us do what a hub has to do there. */
export class NatsRightMissing extends StoreUnavailable {}

/** What JetStream answered in place of a result. */
export class JetStreamFault extends Error {
  readonly code: number;
  readonly errCode: number;

  constructor({ code, err_code, description }: { code?: number; err_code?: number; description?: string }) {
    super(description ?? `error ${err_code ?? code}`);
    this.name = 'JetStreamFault';
    this.code = code ?? 0;
    this.errCode = err_code ?? 0;
  }
}

/** One connection to NATS, which comes back by itself; and questions to JetStream over it. Nothing is thrown but to who asked. */
export class NatsLink {
  readonly connection: NatsConnection;
  readonly #logger: Logger;
  readonly #listeners = new Set<(isConnected: boolean) => void>();
  readonly #reported = new Set<string>();
  readonly #rights = new Set<(missing: NatsRightMissing) => void>();
  #maxPayload = 1_048_576;
  #isConnected = true;
  #isClosing = false;

  constructor(connection: NatsConnection, logger: Logger) {
    this.connection = connection;
    this.#logger = logger;
    this.#follow().catch((error) => logger.error('cluster: the connection to NATS is not followed any more', { error: messageOf(error) }));
  }

  get isConnected(): boolean {
    return this.#isConnected && !this.connection.isClosed();
  }

  /** What the server takes as one message, headers included; without a connection, what the last one took. Bytes. */
  get maxPayload(): number {
    this.#maxPayload = this.connection.info?.max_payload ?? this.#maxPayload;
    return this.#maxPayload;
  }

  onConnection(listener: (isConnected: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls with what nobody waits for: a message or a subscription that NATS does not let us have. Returns the unsubscribe function. */
  onRightMissing(listener: (missing: NatsRightMissing) => void): () => void {
    this.#rights.add(listener);
    return () => this.#rights.delete(listener);
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
   * Asks JetStream. Rejects with `JetStreamFault` if it said no, and with `StoreUnavailable` if no answer came: then it may have been done.
   * What certainly was not done is tried again for a while: nobody listened, or there was no leader.
   */
  async ask<Answer>(subject: string, question: Uint8Array | string | object, headers: Record<string, string> = {}): Promise<Answer> {
    const untilMs = performance.now() + operationMs;
    const payload = typeof question === 'string' || question instanceof Uint8Array ? question : JSON.stringify(question);
    for (;;) {
      try {
        return await this.#askOnce<Answer>(subject, payload, { headers, timeoutMs: untilMs - performance.now() });
      } catch (error) {
        if (!wasNotDone(error)) throw toUnavailable(subject, error);
        if (performance.now() + retryMs * 2 > untilMs || !this.isConnected) throw toUnavailable(subject, error);
        await sleep(retryMs);
      }
    }
  }

  async #askOnce<Answer>(
    subject: string,
    payload: Uint8Array | string,
    { headers, timeoutMs }: { headers: Record<string, string>; timeoutMs: number },
  ): Promise<Answer> {
    if (!this.isConnected) throw new StoreUnavailable('The connection to NATS is lost. It is tried again by itself.');
    const lines = Object.entries(headers);
    const sent = lines.length === 0 ? undefined : createHeaders();
    for (const [name, value] of lines) sent?.set(name, value);
    const options = { timeout: Math.max(1, Math.ceil(timeoutMs)), ...(sent && { headers: sent }) };
    const { data } = await this.connection.request(subject, payload, options);
    const answer = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString()) as { error?: object };
    if (answer.error !== undefined) throw new JetStreamFault(answer.error);
    return answer as Answer;
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
      if (status.error instanceof PermissionViolationError) this.#reportRight(status.error);
      else this.#logger.warn('cluster: NATS reports an error', { error: status.error.message });
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

  #reportRight(violation: PermissionViolationError): void {
    const text = whatToGrant(violation);
    this.#reportOnce(text);
    for (const listener of [...this.#rights]) listener(new NatsRightMissing(text, violation));
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
  if (isOf(error, NoRespondersError)) return true;
  return error instanceof JetStreamFault && notNow.has(error.errCode);
}

function isOf<Kind extends Error>(error: unknown, kind: abstract new (...args: never[]) => Kind): Kind | undefined {
  if (error instanceof kind) return error;
  return error instanceof Error && error.cause instanceof kind ? error.cause : undefined;
}

function toUnavailable(subject: string, error: unknown): Error {
  const violation = isOf(error, PermissionViolationError);
  if (violation !== undefined) return new NatsRightMissing(whatToGrant(violation), error);
  if (isOf(error, NoRespondersError) !== undefined) {
    return new StoreUnavailable(
      `Nothing at NATS answers to "${subject}". JetStream is off for this account, or too few servers of the NATS cluster run: look at them with \`nats server report jetstream\`.`,
      error,
    );
  }
  if (isOf(error, TimeoutError) !== undefined) {
    return new StoreUnavailable(`NATS gave no answer on "${subject}" within ${operationMs / 1000} s.`, error);
  }
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof JetStreamFault)
    return notNow.has(error.errCode) ? new StoreUnavailable(`JetStream: ${error.message}.`, error) : error;
  return new StoreUnavailable(`NATS: ${messageOf(error)}.`, error);
}

function whatToGrant({ operation, subject }: PermissionViolationError): string {
  const right = operation === 'publish' ? 'publish' : 'subscribe';
  return `NATS does not let this hub ${right === 'publish' ? 'publish to' : 'subscribe to'} "${subject}". Grant its user the right to ${right} there; docs/config.md lists all that a hub needs.`;
}
