import type { NotebookLink } from './notebook-directory.js';

/** The notebooks that one agent uses, and which of them its calls mean. */
export class AgentNotebooks {
  readonly #links: NotebookLink[];
  /** Being opened, by what the agent named. */
  readonly opening = new Map<string, NotebookLink>();
  /** Ids of notebooks that were used, by location. */
  readonly #locations = new Map<string, string>();
  #selected: NotebookLink | undefined;
  #hasEnded = false;
  #choosing: Promise<void> = Promise.resolve();
  #choices = 0;

  /** `first`: the notebook of the command line, if it names one. */
  constructor(first: NotebookLink | undefined) {
    this.#links = first === undefined ? [] : [first];
  }

  get links(): readonly NotebookLink[] {
    return this.#links;
  }

  /** The one that is selected, or the only one; undefined where it would have to be guessed. */
  get current(): NotebookLink | undefined {
    return this.#selected ?? (this.#links.length === 1 ? this.#links[0] : undefined);
  }

  /** The agent is gone: what it asked for last is not opened any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Returns what it used, for whoever leaves it. */
  end(): NotebookLink[] {
    this.#hasEnded = true;
    return this.all();
  }

  byId(id: string): NotebookLink | undefined {
    return this.#links.find((link) => link.id === id);
  }

  /** By id, or by where it was when it was listed: its process may have ended since, and the link knows the way back. */
  byName(name: string): NotebookLink | undefined {
    return this.byId(name) ?? this.byId(this.#locations.get(name) ?? '');
  }

  noteLocation(link: NotebookLink, location: string | null): void {
    if (location !== null && link.id !== undefined) this.#locations.set(location, link.id);
  }

  /** The agent has asked for another selection, until the returned function is called. */
  beginChoice(): () => void {
    let end: () => void = () => {};
    this.#choices++;
    const choice = new Promise<void>((resolve) => {
      end = resolve;
    }).then(() => void this.#choices--);
    this.#choosing = Promise.all([this.#choosing, choice]).then(() => {});
    return end;
  }

  get isChoosing(): boolean {
    return this.#choices > 0;
  }

  /** What it has asked for before is selected: a call behind it that names no notebook means that one. Never rejects. */
  chosen(): Promise<void> {
    return this.#choosing;
  }

  add(link: NotebookLink): void {
    if (!this.#links.includes(link)) this.#links.push(link);
  }

  select(link: NotebookLink): void {
    this.add(link);
    this.#selected = link;
  }

  remove(link: NotebookLink): void {
    const at = this.#links.indexOf(link);
    if (at >= 0) this.#links.splice(at, 1);
    if (this.#selected === link) this.#selected = undefined;
  }

  /** All, with those that are being opened. */
  all(): NotebookLink[] {
    return [...this.#links, ...this.opening.values()];
  }
}
