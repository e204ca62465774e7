import type { LeaseState } from '@notebridge/notebook/host';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { isJsonObject } from '@notebridge/protocol/json';
import type { Lease, LeasePerson } from '../../../broker/lease.js';
import type { PageClient } from '../../../notebooks/pages/page-client.js';

/** The experimental capability of a page that can ask its person, and the request by which it is asked to. */
const handOverKey = 'notebridge/hand_over';
/** A person may be away for long; the question is taken back when nobody waits for it any more. Milliseconds. */
const answerTimeoutMs = 24 * 3600 * 1000;

/** The person at a page, asked by its page: a page that is of our library, or declares the same, shows the question and answers it. */
export class PagePerson implements LeasePerson {
  readonly #client: PageClient;
  /** By the id of the question: what takes it back. */
  readonly #asked = new Map<number, Cancellation>();
  #lease: Lease | undefined;

  constructor(client: PageClient) {
    this.#client = client;
    client.connectionChanged.add(() => {
      // Another page knows nothing of what its predecessor was asked.
      this.#asked.clear();
      if (this.#lease !== undefined) this.show(this.#lease.state);
    });
  }

  /** Whose questions are asked, and get the answers. */
  set lease(lease: Lease) {
    this.#lease = lease;
  }

  canAsk(): boolean {
    const { experimental } = this.#client.proxyMcpClient?.initializeResult?.capabilities ?? {};
    return this.#client.isConnected() && isJsonObject(experimental) && handOverKey in experimental;
  }

  show({ asking, holder }: LeaseState): void {
    for (const [questionId, cancellation] of this.#asked) {
      if (asking.some((question) => question.questionId === questionId)) continue;
      this.#asked.delete(questionId);
      cancellation.cancel('Nobody asks this any more.');
    }
    if (!this.canAsk()) return;
    for (const { questionId, name, reason } of asking)
      if (!this.#asked.has(questionId)) void this.#ask(questionId, { agent: name, reason, holder: holder?.name });
  }

  async #ask(questionId: number, { agent, reason, holder }: { agent: string; reason?: string | undefined; holder: string | undefined }) {
    const cancellation = new Cancellation();
    this.#asked.set(questionId, cancellation);
    const params = { agent, ...(reason === undefined ? {} : { reason }), ...(holder === undefined ? {} : { holder }) };
    try {
      const { yes } = (await this.#client.proxyMcpClient?.request(handOverKey, params, { cancellation, timeoutMs: answerTimeoutMs })) ?? {};
      // Of a page that has gone meanwhile, or to a question that was taken back, no answer counts.
      if (this.#asked.get(questionId) === cancellation) this.#lease?.answer(questionId, yes === true);
    } catch {
      // The page went away or cannot answer: the question stays for the next one.
    }
  }
}
