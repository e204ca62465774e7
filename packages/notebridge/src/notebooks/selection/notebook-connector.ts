import { setTimeout as pause } from 'node:timers/promises';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import type { AgentNotebooks } from './agent-notebooks.js';
import type { NotebookDirectory, NotebookEntry, NotebookLink, NotebookList } from './notebook-directory.js';
import type { NotebookLinks } from './notebook-links.js';

/** An agent's own timeout may be 30 s. Milliseconds. */
const connectTimeoutMs = 20_000;
const listTimeoutMs = 5000;
const pagePollMs = 250;

export interface NotebookConnectorOptions {
  directory: NotebookDirectory;
  links: NotebookLinks;
  /** The agent of this session has other tools now. */
  onSelected: (sessionId: string) => void;
}

/** What an agent asks for about notebooks: which there are, to use one, to leave one. */
export class NotebookConnector {
  readonly #directory: NotebookDirectory;
  readonly #links: NotebookLinks;
  readonly #onSelected: NotebookConnectorOptions['onSelected'];

  constructor({ directory, links, onSelected }: NotebookConnectorOptions) {
    this.#directory = directory;
    this.#links = links;
    this.#onSelected = onSelected;
  }

  async list(agent: AgentNotebooks): Promise<JsonObject> {
    // What has just been asked for is listed as soon as it is there.
    await settlesWithin(Promise.allSettled(agent.links.map((link) => (link.isDisconnected ? undefined : link.join()))), listTimeoutMs);
    const { entries, silent } = await this.#directory.list();
    return { notebooks: entries.map((entry) => toShown(agent, entry)), ...(silent.length === 0 ? {} : { not_answering: [...silent] }) };
  }

  /** With what is there to be opened, where an agent cannot look itself. */
  async listAll(agent: AgentNotebooks, args: JsonObject): Promise<JsonObject> {
    const [listed, contents] = await Promise.all([this.list(agent), this.#directory.contents?.list(args)]);
    return { ...listed, ...contents };
  }

  /** Opens or finds a notebook and selects it; `onChosen` is called when that is done. Rejects with what keeps it from opening. */
  async connect(
    agent: AgentNotebooks,
    { notebook: text, create }: JsonObject,
    { context, onChosen }: { context: CallContext; onChosen: () => void },
  ): Promise<JsonObject> {
    const deadline = performance.now() + connectTimeoutMs;
    let link: NotebookLink | undefined;
    try {
      const list = await this.#directory.list();
      if (typeof text !== 'string') throw toNotOpen(text, list);
      link = agent.byName(text);
      if (link === undefined) {
        const reference = await this.#directory.find({ text, create: create === true }, list);
        const known = reference.kind === 'open' ? this.#links.find(agent, reference.id) : undefined;
        const make = () => this.#directory.linkTo(reference);
        link = known ?? (await this.#links.join(agent, { key: JSON.stringify(reference), make, deadline }, context));
      } else await settlesWithin(link.join(), deadline - performance.now(), context.signal);
      agent.select(link);
    } catch (error) {
      if (codeOf(error) !== 'timeout') throw error;
      return {
        status: 'opening',
        missing: messageOf(error),
        next: 'Call connect_notebook again with the same notebook: it goes on being opened.',
      };
    }
    onChosen();
    this.#onSelected(context.caller.sessionId);
    return this.#untilThere(agent, link, deadline, context);
  }

  /** Left out: the one that is selected. */
  async disconnect(agent: AgentNotebooks, named: unknown, context: CallContext): Promise<JsonObject> {
    const link = named === undefined ? agent.current : agent.byId(String(named));
    if (link === undefined && named === undefined) throw await this.ambiguity(agent);
    if (link === undefined) throw toNotOpen(named, usedBy(agent, await this.#directory.list()));
    const { id = null } = link;
    agent.remove(link);
    await this.#links.leave(link);
    this.#onSelected(context.caller.sessionId);
    return { status: 'disconnected', id, ...(await this.list(agent)) };
  }

  /**
   * The notebook that a call names. One that is open is joined for the call, and is not selected by it; but the holder of a grant, which may
   * allow one tool alone, names only what connect_notebook has connected.
   */
  async named(agent: AgentNotebooks, named: unknown, context: CallContext): Promise<NotebookLink> {
    const used = typeof named === 'string' ? agent.byName(named) : undefined;
    if (used !== undefined) return used;
    const all = await this.#directory.list();
    const open = context.caller.principal?.kind === 'grant' ? usedBy(agent, all) : all;
    const entry = open.entries.find(({ id, location }) => id === named || (location !== null && location === named));
    if (typeof named !== 'string' || entry === undefined) throw toNotOpen(named, open);
    const known = agent.byId(entry.id);
    if (known !== undefined) return known;
    const make = () => this.#directory.linkTo({ kind: 'open', id: entry.id });
    return this.#links.join(agent, { key: entry.id, make, deadline: performance.now() + connectTimeoutMs }, context);
  }

  async ambiguity(agent: AgentNotebooks): Promise<BridgeError> {
    const all = await this.#directory.list();
    const used = usedBy(agent, all);
    const start = used.entries.length === 0 ? 'This agent uses no notebook now' : 'Several notebooks are connected and none is selected';
    return new BridgeError(
      'which_notebook',
      `${start}, so nothing was called. Give "notebook" with the call, or select one with connect_notebook: ${nameList(used.entries.length === 0 ? all : used)}.`,
    );
  }

  /** A page may be opened by a person meanwhile. */
  async #untilThere(agent: AgentNotebooks, link: NotebookLink, deadline: number, { signal }: CallContext): Promise<JsonObject> {
    for (;;) {
      const { entries, silent } = await this.#directory.list();
      const entry = entries.find(({ id }) => id === link.id);
      const [missing] = silent;
      if (entry === undefined && missing !== undefined) return { status: 'not_answering', id: link.id ?? null, missing };
      if (entry === undefined) return { status: 'connected', id: link.id ?? null };
      const { isolation } = entry;
      // Said with the notebook that is chosen, and not with each of a list.
      const can = isolation === undefined ? {} : { isolation };
      if (entry.state !== 'waiting') return { status: 'connected', ...toShown(agent, entry), ...can };
      if (performance.now() > deadline || signal.aborted)
        return { status: 'waiting', ...toShown(agent, entry), missing: entry.missing ?? 'Its page is not open in a browser.' };
      await pause(pagePollMs);
    }
  }
}

function usedBy(agent: AgentNotebooks, { entries, silent }: NotebookList): NotebookList {
  return { entries: entries.filter(({ id }) => agent.byId(id) !== undefined), silent };
}

/** As the agent sees it, which may name it by its location from now on. */
function toShown(agent: AgentNotebooks, { agents: _, isolation: __, ...entry }: NotebookEntry & { agents?: unknown }): JsonObject {
  const link = agent.byId(entry.id);
  if (link !== undefined) agent.noteLocation(link, entry.location);
  return { ...entry, connected: link !== undefined, selected: link !== undefined && link === agent.current } as JsonObject;
}

/** `text`: what was named and is none of them. */
function toNotOpen(text: unknown, list: NotebookList): BridgeError {
  const fault =
    typeof text === 'string' ? `No notebook ${quote(text)} is open.` : '"notebook" names none: it is an id, as in list_notebooks.';
  return new BridgeError('bad_notebook', `${fault} There is ${nameList(list)}. connect_notebook opens others.`);
}

/** With what is not known of. */
function nameList({ entries, silent }: NotebookList): string {
  const unknown = silent.map((why) => `; others are not known: ${why.replace(/\.$/, '')}`);
  return `${nameEntries(entries)}${unknown.join('')}`;
}

function nameEntries(entries: readonly NotebookEntry[]): string {
  if (entries.length === 0) return 'none';
  return entries.map(({ id, title, location, kind }) => `${id} (${kind}: ${location ?? title})`).join(', ');
}
