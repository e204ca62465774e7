import { toTerms } from '../../src/assembly/notebooks/page-options.js';
import { HostLink } from '../../src/broker/host-link.js';
import { dialHost } from '../../src/broker/join-link.js';
import { JoinListener } from '../../src/broker/join-listener.js';
import { JoinedNotebook } from '../../src/broker/joined-notebook.js';
import { SharedNotebook } from '../../src/broker/shared-notebook.js';
import { nameOfAgent } from '../../src/notebooks/call-notebook-tool.js';
import { colabProfile } from '../../src/notebooks/profiles/colab.js';
import { PageServers } from './page-servers.js';
import { RawPage, type RawPageOptions } from './raw-page.js';

const version = '1.0.0';

/** A page that may ask, held by one side of a real link, and the agents' processes that join it from the other. */
export class JoinedPage implements AsyncDisposable {
  readonly page: RawPage;
  readonly #parts: { servers: PageServers; notebook: SharedNotebook; listener: JoinListener };
  readonly #joined: JoinedNotebook[] = [];

  private constructor(page: RawPage, parts: { servers: PageServers; notebook: SharedNotebook; listener: JoinListener }) {
    this.page = page;
    this.#parts = parts;
  }

  static async open(answer: NonNullable<RawPageOptions['answer']>): Promise<JoinedPage> {
    const servers = new PageServers();
    const server = await servers.open({ profiles: [{ ...colabProfile, questions: 'serial' }] });
    const held = await server.open({ key: 'page', profile: colabProfile.name });
    const page = await RawPage.serve({ port: server.port, token: held.slot.token, answer });
    const notebook = new SharedNotebook(
      {
        provider: held.provider,
        address: { kind: 'page', profile: colabProfile.name, url: colabProfile.defaultUrl },
        // Any agent may call: this is about questions, and not about who holds the notebook.
        reads: new Set(colabProfile.tools.map(({ name }) => name)),
        terms: toTerms({}, false),
        describe: () => ({ title: held.title, location: held.url, kernel: null, state: held.state }),
        state: () => ({ windows: 1, isRunning: false, unsaved: undefined }),
      },
      'page-1',
    );
    const createHandler = (peer: ConstructorParameters<typeof HostLink>[0]): HostLink =>
      new HostLink(peer, {
        open: async () => ({ notebook, isNew: false }),
        left: () => {},
        all: () => [notebook],
        stop: async () => {},
      });
    const listener = await JoinListener.open({ dir: servers.dir, version, createHandler });
    return new JoinedPage(page, { servers, notebook, listener });
  }

  /** The process of one more agent. */
  join({ answerTimeoutMs = 60_000 } = {}): JoinedNotebook {
    const { address, secret } = this.#parts.listener;
    const place = { kind: 'notebook', address, secret, pid: process.pid, startedAt: Date.now(), version } as const;
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const joined = new JoinedNotebook({
      connect: (createHandler) => dialHost(place, version, createHandler),
      open: { ...toTerms({}, false), how: {} },
      instructions: '',
      windowTool: undefined,
      showWindow: () => Promise.reject(new Error('It has no window.')),
      nameOfAgent,
      tools: undefined,
      answerTimeoutMs,
      logger,
    });
    this.#joined.push(joined);
    return joined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const joined of this.#joined) await joined.close();
    await this.page.close();
    this.#parts.notebook.end();
    this.#parts.listener.close();
    await this.#parts.servers[Symbol.asyncDispose]();
  }
}
