import { earlierLifeText, noSuchRunText } from './run-words.js';

/** Ended runs that are remembered, and those among them whose outputs are. */
const maxRuns = 200;
const maxKept = 20;

/** The runs of one notebook, whatever kind it is, for those who come back for one: what runs and waits, and the last that have ended. */
export class CellRuns<Run extends { readonly id: number }> {
  /** Another one in each life of the notebook: numbers of runs begin anew. */
  readonly mark: string;
  readonly #withoutOutputs: (run: Run) => Run;
  readonly #runs = new Map<number, Run>();
  /** Names of runs that an earlier process began, by number. */
  readonly #names = new Map<number, string>();
  /** Numbers of ended runs, in the order in which they ended. */
  readonly #ended: number[] = [];

  /** `withoutOutputs`: outputs take room, and the cell has them. */
  constructor({ mark, withoutOutputs }: { mark: string; withoutOutputs: (run: Run) => Run }) {
    this.mark = mark;
    this.#withoutOutputs = withoutOutputs;
  }

  /** All runs, in the order in which they were asked for. */
  all(): Run[] {
    return [...this.#runs.values()];
  }

  find(id: number): Run | undefined {
    return this.#runs.get(id);
  }

  /** Adds a run, or what is known of it now. */
  set(run: Run): void {
    this.#runs.set(run.id, run);
  }

  remove({ id }: Run): void {
    this.#runs.delete(id);
  }

  clear(): void {
    this.#runs.clear();
  }

  /** The name of a run, for agents: its number, and the mark, so that one of an earlier life is never taken for it. */
  nameOf(id: number): string {
    return this.#names.get(id) ?? `${this.mark}-${id}`;
  }

  /** The run keeps the name that it has had in an earlier life. */
  keepName(id: number, name: string): void {
    this.#names.set(id, name);
  }

  /** Finds a run by its name. */
  findNamed(name: string): Run | undefined {
    const [kept] = [...this.#names].find(([, known]) => known === name) ?? [];
    const { mark, id } = parseRunName(name);
    return this.#runs.get(kept ?? (mark === this.mark ? id : 0));
  }

  /** True for a name of another life, or of another notebook. */
  isEarlier(name: string): boolean {
    const { mark } = parseRunName(name);
    return mark !== undefined && mark !== this.mark;
  }

  /** Says why no run has the name. */
  explainUnknown(name: string): string {
    return `No run "${name.slice(0, 60)}". ${this.isEarlier(name) ? earlierLifeText : noSuchRunText}`;
  }

  /** The run has ended: older ones are forgotten, and their outputs before that. */
  noteEnd({ id }: Run): void {
    this.#ended.push(id);
    const old = this.#runs.get(this.#ended.at(-1 - maxKept) ?? 0);
    if (old !== undefined) this.set(this.#withoutOutputs(old));
    if (this.#ended.length > maxRuns) this.#runs.delete(this.#ended.shift() ?? 0);
  }
}

/** The mark is undefined for what is no name of a run. */
export function parseRunName(name: string): { mark: string | undefined; id: number } {
  const [, mark, id] = /^([a-z\d]+)-(\d+)$/.exec(name) ?? [];
  return { mark, id: Number(id) };
}
