import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { Redactor } from '@notebridge/protocol/util/redactor';
import type { ClosableLogger } from '@notebridge/system/files/closable-logger';
import { ownVersion } from '@notebridge/system/files/own-files';
import { EntryGate } from '@notebridge/system/net/entry-gate';
import { ownUserId } from '@notebridge/system/processes/own-user';
import type { BrokerNotebook, NotebookOpening } from '../../../broker/broker.js';
import { keyOf } from '../../../broker/notebook-address.js';
import { SharedNotebook } from '../../../broker/shared-notebook.js';
import type { ConnectDoor } from '../../../doors/connect/connect-door.js';
import { openAddress } from '../../../identity/open-address.js';
import { acceptTypedCodes } from '../../../identity/typed-codes.js';
import type { PageNotebook } from '../../../notebooks/pages/page-notebook.js';
import { PageServer } from '../../../notebooks/pages/page-server.js';
import { pageProfiles, toPageUrl } from '../../../notebooks/profiles/page-profiles.js';
import { RunLedger } from '../../../notebooks/runs/run-ledger.js';
import { openToolName } from '../../../reference/open-tool.js';
import type { HowToOpen } from '../how-to-open.js';
import type { HeldKind, OpenBrokerOptions } from '../notebook-kind.js';
import { browserSwitchedOff } from '../open-notebook.js';
import { toTerms } from '../page-options.js';
import { createBrokerConnect } from './broker-connect.js';
import { readsOf } from './lease-page.js';
import { PagePerson } from './page-person.js';
import { PageProvider } from './page-provider.js';

/** The pages of the broker: one port for all of them, opened with the first, or at once if pages of an earlier broker may come back. */
export class BrokerPages implements HeldKind {
  readonly #options: OpenBrokerOptions;
  #logger: ClosableLogger | undefined;
  #server: Promise<PageServer> | undefined;
  #opened: PageServer | undefined;
  readonly #secrets = new Redactor();
  readonly #gate: EntryGate;
  readonly #connect: ConnectDoor;

  constructor(options: OpenBrokerOptions) {
    this.#options = options;
    this.#gate = new EntryGate({ typed: acceptTypedCodes(options.stateDir) });
    this.#connect = createBrokerConnect(() => this.#opened, { gate: this.#gate, addSecret: (secret) => this.#secrets.add(secret) });
  }

  /** Lets pages of an earlier broker come back. Never rejects. */
  async restore(): Promise<void> {
    if (!PageServer.hasKept(this.#options.stateDir)) return;
    await this.#open(undefined).catch((error: unknown) => this.#options.logger.warn(String(error)));
  }

  /** Rejects with `bad_origin`, `bad_usage`, `port_in_use`. */
  async open({ request: { readOnly, how }, address: asked, id }: NotebookOpening): Promise<BrokerNotebook> {
    if (asked.kind !== 'page') throw new BridgeError('internal', 'What was asked for is no page.');
    const { pages, env: ofAgent, screen } = how as unknown as HowToOpen;
    const address = { ...asked, url: toPageUrl(asked.profile, asked.url, id) };
    assertOrigin(address, pages.allowOrigins);
    const server = await this.#open(how as unknown as HowToOpen);
    const { allowOrigins } = pages;
    const page = await server.open({ key: keyOf(address) ?? id, profile: address.profile, url: address.url, allowOrigins });
    const env = { ...this.#options.env, ...ofAgent, ...screen };
    const provider = new PageProvider({
      page,
      server,
      isJournalled: pages.journal !== false,
      ledger: new RunLedger({
        dir: join(this.#options.stateDir, 'page-runs'),
        uid: ownUserId(),
        logger: this.#logger ?? this.#options.logger,
      }),
      openBrowser: pages.openBrowser === false ? async () => browserSwitchedOff : (url, timeoutMs) => openAddress(url, { env, timeoutMs }),
      connectAddress: () => this.#connect.newAddress(`http://localhost:${server.port}`),
      logger: this.#logger ?? this.#options.logger,
    });
    const person = new PagePerson(page.client);
    const notebook = new SharedNotebook(
      {
        provider,
        person,
        reads: readsOf(page.profile),
        address,
        terms: toTerms(pages, readOnly),
        describe: () => ({ title: page.title, location: page.url, kernel: null, state: stateOf(page, provider) }),
        state: () => ({ windows: page.client.isConnected() ? 1 : 0, isRunning: provider.isRunning, unsaved: undefined }),
      },
      id,
    );
    person.lease = notebook.lease;
    // The slot stays: its page may come back, to this broker or to the next one.
    return { notebook, close: () => provider.close() };
  }

  /** Hangs up; the slots stay on disk. Closing twice is harmless. */
  async close(): Promise<void> {
    const server = await this.#server?.catch(() => undefined);
    await server?.close();
    await this.#logger?.close?.();
  }

  #open(how: HowToOpen | undefined): Promise<PageServer> {
    this.#server ??= this.#start(how).catch((error: unknown) => {
      this.#server = undefined;
      throw error;
    });
    return this.#server;
  }

  async #start(how: HowToOpen | undefined): Promise<PageServer> {
    const { stateDir: dir, createLogger } = this.#options;
    const secrets = this.#secrets;
    this.#logger ??= createLogger(secrets);
    const { maxMessageBytes, graceMs, callTimeoutMs, handshakeMs } = how?.limits ?? {};
    const { port, allowHosts } = how?.pages ?? {};
    this.#opened = await PageServer.open({
      dir,
      profiles: pageProfiles,
      openTool: openToolName,
      logger: this.#logger,
      port,
      allowHosts,
      maxMessageBytes,
      graceMs,
      callTimeoutMs,
      handshakeMs,
      clientInfo: { name: 'notebridge', version: ownVersion() },
      secrets,
      gate: this.#gate,
      answerPlain: (request, response) => this.#connect.answer(request, response),
    });
    return this.#opened;
  }
}

/** The URL is given a token: it must be where such a page may be. */
function assertOrigin({ profile, url }: { profile: string; url: string }, allowOrigins: readonly string[] = []): void {
  const origin = URL.canParse(url) ? new URL(url).origin : 'null';
  const { origins = [] } = pageProfiles.find(({ name }) => name === profile) ?? {};
  if (origin !== 'null' && [...origins, ...allowOrigins].includes(origin)) return;
  throw new BridgeError(
    'bad_origin',
    `"${url.replace(/[?#].*$/, '')}" is not opened: start the agent's process with --allow-origin ${origin}.`,
  );
}

function stateOf({ state }: PageNotebook, { isRunning }: PageProvider): string {
  if (state === 'connected') return isRunning ? 'busy' : 'idle';
  return 'waiting';
}
