import type { LabWorkspace } from '@notebridge/notebook/lab';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import type { JsonObject } from '@notebridge/protocol/json';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { NoJupyterNotebook } from '../../../notebooks/jupyter/jupyter-notebook.js';
import type { NotebookLink } from '../../../notebooks/selection/notebook-directory.js';

export interface JupyterLinkOptions {
  workspace: LabWorkspace;
  /** A link to the notebook, once it is known where it is. */
  linkTo: (found: { baseUrl: string; path: string }) => NotebookLink;
}

/**
 * The notebook that `--notebook jupyter=…` names, found when it is first called for: its server may be started after the agent. Where none is
 * named there never is one.
 */
export class JupyterLink implements NotebookLink {
  readonly name = 'notebook';
  readonly #options: JupyterLinkOptions;
  readonly #none: Provider;
  readonly #events = new Listeners<ProviderEvent>();
  #agents: readonly { id: string; name: string }[] = [];
  #link: NotebookLink | undefined;
  #finding: Promise<NotebookLink> | undefined;

  constructor(options: JupyterLinkOptions) {
    this.#options = options;
    this.#none = new NoJupyterNotebook(options.workspace);
  }

  get instructions(): string | undefined {
    return (this.#link ?? this.#none).instructions;
  }

  get id(): string | undefined {
    return this.#link?.id;
  }

  get isDisconnected(): boolean {
    return this.#link?.isDisconnected === true;
  }

  async join(): Promise<void> {
    await (await this.#find()).join();
  }

  async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const link = await this.#find().catch(() => this.#none);
    return link.request(method, params, context);
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#link?.notify(method, params);
  }

  subscribe(listener: (event: ProviderEvent) => void): () => void {
    return this.#events.add(listener);
  }

  showAgents(agents: readonly { id: string; name: string }[]): void {
    this.#agents = agents;
    this.#link?.showAgents(agents);
  }

  async close(): Promise<void> {
    await this.#finding?.catch(() => {});
    await Promise.all([this.#link?.close(), this.#options.workspace.close()]);
  }

  #find(): Promise<NotebookLink> {
    this.#finding ??= this.#findNow().catch((error: unknown) => {
      this.#finding = undefined;
      throw error;
    });
    return this.#finding;
  }

  async #findNow(): Promise<NotebookLink> {
    const { workspace, linkTo } = this.#options;
    const link = linkTo(await workspace.locate());
    link.subscribe((event) => this.#events.emit(event));
    if (this.#agents.length > 0) link.showAgents(this.#agents);
    this.#link = link;
    return link;
  }
}
