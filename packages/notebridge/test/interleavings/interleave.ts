import type { JsonObject } from '@notebridge/protocol/json';
import { createContext } from '../support/create-context.js';
import type { NotebookKind, TextCell } from './notebook-kind.js';

/** A call that is not answered yet. */
interface Call {
  agent: Agent;
  name: string;
  cellId: string | undefined;
  /** In the text that it writes, and nowhere else. */
  mark: string;
  /** The characters that the call's agent had read when the call was sent. */
  seen: ReadonlySet<string>;
  /** How many characters the person had typed by then. */
  typed: number;
}

/** How often what came to pass, so that a run in which nothing happens is noticed. */
export interface Tally {
  written: number;
  refused: number;
  /** Characters of the person that an agent removed after it had read them. */
  removedKnowingly: number;
  /** The same within the window that the kind has. */
  removedInWindow: number;
}

/** Characters that nobody else writes: each of the person's and each mark of a call is another one. */
const firstOfPerson = 0x4e00;
const firstMark = 0xac00;

const steps = 12;

/**
 * One run: a person and two agents edit at random, some calls of agents before others are answered. Throws where a character that the person
 * typed was removed by an agent that had not read it, and where an edit is refused though the agent knows the cell as it is.
 */
export async function interleave(kind: NotebookKind, seed: number, tally: Tally): Promise<void> {
  const run = new Run(kind, seed, tally);
  try {
    await run.play();
  } catch (error) {
    throw new Error(`Seed ${seed}:\n${run.story.join('\n')}`, { cause: error });
  }
}

class Run {
  readonly story: string[] = [];
  readonly #kind: NotebookKind;
  readonly #tally: Tally;
  readonly #chance: () => number;
  readonly #agents: readonly Agent[];
  readonly #open = new Set<Call>();
  /** Characters that were removed by an agent that knew them: where it writes them again, they are its own. */
  readonly #given = new Set<string>();
  #typed = 0;
  #marks = 0;
  /** Counts what happens, to know whether anything happened during a call. */
  #events = 0;
  #fault: Error | undefined;

  constructor(kind: NotebookKind, seed: number, tally: Tally) {
    this.#kind = kind;
    this.#tally = tally;
    this.#chance = mulberry(seed);
    this.#agents = ['one', 'two'].map((name) => new Agent(kind, name, seed));
    kind.onAgentWrite = (before, after) => this.#judge(before, after);
  }

  async play(): Promise<void> {
    for (const { id } of this.#kind.cells()) this.#kind.person.remove(id);
    for (const index of [0, 1]) this.#kind.person.add(index, this.#typeInto(''));
    const pending: Promise<void>[] = [];
    for (let step = 0; step < steps; step++) {
      if (this.#chance() < 0.4) this.#personActs();
      else {
        const acting = this.#agentActs();
        if (this.#chance() < 0.7) await acting;
        else pending.push(acting);
      }
    }
    await Promise.all(pending);
    if (this.#fault) throw this.#fault;
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#chance() * items.length)];
  }

  #typeInto(source: string): string {
    const at = Math.floor(this.#chance() * (source.length + 1));
    return `${source.slice(0, at)}${String.fromCharCode(firstOfPerson + this.#typed++)}${source.slice(at)}`;
  }

  #personActs(): void {
    const { person } = this.#kind;
    const cell = this.#pick(this.#kind.cells());
    const what = this.#chance();
    this.#events++;
    if (cell === undefined || what < 0.15) return this.#tell('person adds a cell', () => person.add(0, this.#typeInto('')));
    if (what < 0.8) return this.#tell(`person types into ${cell.id}`, () => person.edit(cell.id, this.#typeInto(cell.source)));
    if (what < 0.9) return this.#tell(`person moves ${cell.id}`, () => person.move(cell.id, 0));
    if (what < 0.95) return this.#tell(`person erases in ${cell.id}`, () => person.edit(cell.id, cell.source.slice(1)));
    this.#tell(`person deletes ${cell.id}`, () => person.remove(cell.id));
  }

  #tell(text: string, act: () => void): void {
    act();
    this.story.push(`${text}: ${JSON.stringify(this.#kind.cells().map(({ source }) => source))}`);
  }

  async #agentActs(): Promise<void> {
    const agent = this.#pick(this.#agents) as Agent;
    const cells = this.#kind.cells();
    const knows = this.#chance() < 0.5 ? cells.filter(({ id }) => agent.known.has(id)) : [];
    const cell = this.#pick(knows.length > 0 ? knows : cells);
    const what = this.#chance();
    if (what < 0.2) return this.#call(agent, 'get_cells', {}, undefined);
    if (what < 0.3) return this.#call(agent, 'add_code_cell', { cellIndex: 0, language: 'python', code: this.#mark() }, undefined);
    if (what < 0.4) return this.#call(agent, 'undo_last_change', {}, undefined);
    if (cell === undefined) return;
    const { id: cellId } = cell;
    if (what < 0.5) return this.#call(agent, 'move_cell', { cellId, cellIndex: 0 }, cellId);
    if (what < 0.6) return this.#call(agent, 'delete_cell', { cellId }, cellId);
    // It changes a part of what it knows, or writes all anew.
    const known = this.#chance() < 0.5 ? (agent.known.get(cellId) ?? '') : '';
    return this.#call(agent, 'update_cell', { cellId, content: known + this.#mark() }, cellId);
  }

  #mark(): string {
    return String.fromCharCode(firstMark + this.#marks++);
  }

  async #call(agent: Agent, name: string, args: JsonObject, cellId: string | undefined): Promise<void> {
    const mark = String(args.content ?? args.code ?? '').slice(-1);
    const call = { agent, name, cellId, mark, seen: new Set(agent.seen), typed: this.#typed };
    const now = this.#kind.cells().find(({ id }) => id === cellId)?.source;
    const mustPass = this.#open.size === 0 && now !== undefined && agent.known.get(cellId ?? '') === now;
    const events = this.#events;
    this.#open.add(call);
    this.story.push(`${agent.name} ${name} ${JSON.stringify(args)}`);
    const { code, value } = await agent.call(name, args);
    this.story.push(`  ${agent.name} ${name} answered ${code ?? 'ok'}: ${JSON.stringify(this.#kind.cells().map(({ source }) => source))}`);
    this.#open.delete(call);
    if (code === undefined && args.content !== undefined) this.#tally.written++;
    if (code !== 'stale_cell') return;
    this.#tally.refused++;
    const isUnwarranted = name === 'move_cell' || (mustPass && events === this.#events);
    if (isUnwarranted) this.#fault ??= new Error(`Refused without a reason: ${name} by ${agent.name}: ${JSON.stringify(value)}`);
  }

  /** Judges a write of an agent by the person's characters that it has removed: whoever wrote has to have read them. */
  #judge(before: readonly TextCell[], after: readonly TextCell[]): void {
    this.#events++;
    const there = new Set(after.flatMap(({ source }) => [...source]));
    for (const { id, source } of before) {
      const lost = [...source].filter((character) => isOfPerson(character) && !there.has(character) && !this.#given.has(character));
      if (lost.length > 0) this.#judgeLost(lost, id, after.find((cell) => cell.id === id)?.source);
    }
  }

  #judgeLost(lost: readonly string[], cellId: string, now: string | undefined): void {
    const open = [...this.#open];
    const marked = open.filter(({ mark }) => mark !== '' && now?.includes(mark));
    const writers = marked.length > 0 ? marked : open.filter((call) => call.cellId === cellId || call.cellId === undefined);
    for (const character of lost) {
      const typed = character.charCodeAt(0) - firstOfPerson;
      if (writers.some(({ seen }) => seen.has(character))) {
        this.#tally.removedKnowingly++;
        this.#given.add(character);
      } else if (writers.some((call) => this.#kind.window.has(call.name) && typed >= call.typed)) this.#tally.removedInWindow++;
      else this.#fault ??= new Error(`"${character}" of the cell ${cellId} was lost, and no agent that wrote had read it.`);
    }
  }
}

function isOfPerson(character: string): boolean {
  const code = character.charCodeAt(0);
  return code >= firstOfPerson && code < firstMark;
}

/** An agent as its model sees the notebook: by the answers alone. */
class Agent {
  readonly name: string;
  /** Every character that an answer has shown. */
  readonly seen = new Set<string>();
  /** By cell: its source as it was last shown whole, or as it was written. */
  readonly known = new Map<string, string>();
  readonly #kind: NotebookKind;
  readonly #sessionId: string;

  constructor(kind: NotebookKind, name: string, seed: number) {
    this.#kind = kind;
    this.name = name;
    this.#sessionId = `${name}-${seed}`;
  }

  async call(name: string, args: JsonObject): Promise<{ code: string | undefined; value: JsonObject }> {
    const message = { name, arguments: args };
    const caller = { sessionId: this.#sessionId, door: 'library', era: 'legacy', clientInfo: { name: this.name } } as const;
    const result = await this.#kind.provider.request('tools/call', message, createContext('tools/call', message, { caller }));
    const [block] = result.content as { text: string }[];
    const text = block?.text ?? '';
    for (const character of text) this.seen.add(character);
    const value = text.startsWith('{') ? (JSON.parse(text) as JsonObject) : { error: { code: 'other', text } };
    const error = value.error as JsonObject | undefined;
    this.#learn(name, args, value, error);
    return { code: error === undefined ? undefined : String(error.code), value };
  }

  #learn(name: string, args: JsonObject, value: JsonObject, error: JsonObject | undefined): void {
    const cellId = String(args.cellId ?? value.newCellId ?? '');
    if (name === 'get_cells') for (const cell of value.cells as CellShown[]) this.known.set(cell.id, cell.source.join(''));
    else if (error === undefined && typeof args.content === 'string') this.known.set(cellId, args.content);
    else if (error === undefined && typeof args.code === 'string') this.known.set(cellId, args.code);
    else if (typeof error?.currentSource === 'string') this.known.set(cellId, error.currentSource);
    // An undo does not show the texts that it brought back.
    else if (name === 'undo_last_change') this.known.clear();
  }
}

interface CellShown {
  id: string;
  source: string[];
}

function mulberry(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
