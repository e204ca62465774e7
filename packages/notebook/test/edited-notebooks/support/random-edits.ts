import fc from 'fast-check';
import type { NotebookDocument } from '../../../src/model/document.js';
import { bot } from '../../support/open-notebook.js';
import { cellTextsOf, memberTextsOf } from './cell-texts.js';

/** A notebook that is open, wherever it is. */
export interface EditedNotebook {
  readonly document: NotebookDocument;
  /** Whether types of cells are changed there: agents have no tool for it. */
  readonly changesTypes: boolean;
  /** Rejects with what the tool says against it. */
  call(name: string, args?: object): Promise<{ newCellId?: string; file_note?: string }>;
  /** Resolves when all changes are in the file: its text. */
  text(): Promise<string>;
}

interface Done {
  /** The cells that differ from the original by now, by id, with the members that may. */
  readonly touched: Map<string, Set<string>>;
  /** The ids of all cells, in their order. */
  order: string[];
  /** What every cell had at the beginning. */
  readonly originals: ReadonlyMap<string, string>;
}

type Edit = (notebook: EditedNotebook, done: Done, at: number) => Promise<string>;

const ran = ['outputs', 'execution_count', 'attachments'];
const edits: Record<string, Edit> = {
  async update(notebook, done, at) {
    const id = done.order[at] ?? '';
    const source = `${notebook.document.get(id).cell.source}\n# "edited" <é> \u2028 \\n\t${at}`;
    await notebook.call('update_cell', { cellId: id, content: source });
    return touch(done, id, ['source']);
  },
  async 'insert code'(notebook, done, at) {
    const { newCellId = '' } = await notebook.call('add_code_cell', { cellIndex: at, language: 'python', code: 'new = "<é>"\nnew' });
    done.order.splice(at, 0, newCellId);
    return newCellId;
  },
  async 'insert text'(notebook, done, at) {
    const { newCellId = '' } = await notebook.call('add_text_cell', { cellIndex: at, content: '# New\n\n&amp; <b>' });
    done.order.splice(at, 0, newCellId);
    return newCellId;
  },
  async delete(notebook, done, at) {
    const id = done.order[at] ?? '';
    await notebook.call('delete_cell', { cellId: id });
    done.order.splice(at, 1);
    return id;
  },
  async move(notebook, done, at) {
    const [id = ''] = done.order.splice(at, 1);
    const to = (at * 7 + 3) % (done.order.length + 1);
    done.order.splice(to, 0, id);
    await notebook.call('move_cell', { cellId: id, cellIndex: to });
    return id;
  },
  async 'change of type'(notebook, done, at) {
    const id = done.order[at] ?? '';
    const { type } = notebook.document.get(id).cell;
    notebook.document.setType(id, type === 'code' ? 'markdown' : type === 'markdown' ? 'raw' : 'code', { by: bot });
    return touch(done, id, ['cell_type', ...ran]);
  },
};
const run: Edit = async (notebook, done, at) => {
  const ids = done.order.filter((id) => notebook.document.get(id).cell.type === 'code');
  const id = ids[at % Math.max(1, ids.length)];
  if (id === undefined) return '';
  await notebook.call('run_code_cell', { cellId: id });
  return touch(done, id, ran);
};

function touch({ touched }: Done, id: string, members: readonly string[]): string {
  touched.set(id, new Set([...(touched.get(id) ?? []), ...members]));
  return id;
}

interface EditPlan {
  /** The same seed makes the same edits. */
  seed: number;
  count: number;
  /** Whether a cell is run at the end. */
  runs: boolean;
}

/**
 * Edits a notebook at random, and looks after each edit whether its file differs in more than the cells that were edited; takes all of it
 * back, and looks whether the file is what it was. Rejects with what is wrong.
 */
export async function editAndTakeBack(notebook: EditedNotebook, { seed, count: editCount, runs }: EditPlan): Promise<void> {
  const kinds = Object.keys(edits).filter((kind) => notebook.changesTypes || kind !== 'change of type');
  const one = fc.record({ kind: fc.constantFrom(...kinds), at: fc.nat(100_000) });
  const [steps = []] = fc.sample(fc.array(one, { minLength: editCount, maxLength: editCount }), { seed, numRuns: 1 });
  const original = await notebook.text();
  const before = () => {
    const order = notebook.document.cells.map(({ id }) => id);
    const { cells } = cellTextsOf(original);
    return { touched: new Map<string, Set<string>>(), order, originals: new Map(order.map((id, at) => [id, cells[at] ?? ''])) };
  };
  const done = before();
  let count = 0;
  for (const [at, step] of steps.entries()) {
    const kind = done.order.length === 0 ? 'insert code' : step.kind;
    const { version } = notebook.document;
    const place = step.at % Math.max(1, done.order.length);
    await edits[kind]?.(notebook, done, place);
    if (notebook.document.version > version) count++;
    expectOnly(original, await notebook.text(), done, `edit ${at + 1}, ${kind} at ${place}`);
  }
  for (; count > 0; count--) await notebook.call('undo_last_change');
  if ((await notebook.text()) !== original) throw new Error(`undo: ${difference(original, await notebook.text())}`);
  if (!runs) return;
  const afterwards = before();
  await run(notebook, afterwards, 1);
  expectOnly(original, await notebook.text(), afterwards, 'run');
}

function expectOnly(original: string, now: string, { touched, order, originals }: Done, step: string): void {
  const [was, is] = [cellTextsOf(original), cellTextsOf(now)];
  const fail = (what: string, from: string, to: string) => {
    throw new Error(`${step}: ${what}: ${difference(from, to)}`);
  };
  if (is.head !== was.head) fail('before the cells', was.head, is.head);
  // An empty list has another one.
  if (is.tail !== was.tail && was.cells.length > 0 && is.cells.length > 0) fail('behind the cells', was.tail, is.tail);
  if (is.cells.length !== order.length) throw new Error(`${step}: ${is.cells.length} cells, not ${order.length}`);
  const known = new Set(was.gaps);
  const odd = was.cells.length < 2 ? undefined : is.gaps.find((gap) => !known.has(gap));
  if (odd !== undefined) throw new Error(`${step}: a gap that was not there: ${JSON.stringify(odd)}`);
  for (const [index, id] of order.entries()) {
    const [from, to] = [originals.get(id), is.cells[index] ?? ''];
    const mayDiffer = touched.get(id);
    if (from === undefined || from === to) continue;
    if (mayDiffer === undefined) fail(`cell ${index}, which was not edited`, from, to);
    const [old, changed] = [memberTextsOf(from), memberTextsOf(to)];
    for (const key of new Set([...old.keys(), ...changed.keys()])) {
      // An id that the file lacks comes with the first edit of its cell.
      if (mayDiffer?.has(key) || (key === 'id' && old.get('id') !== JSON.stringify(id))) continue;
      if (old.get(key) !== changed.get(key)) fail(`"${key}" of cell ${index}`, old.get(key) ?? 'nothing', changed.get(key) ?? 'nothing');
    }
  }
}

/** The place where two texts part. */
export function difference(from: string, to: string): string {
  let at = 0;
  while (at < from.length && from[at] === to[at]) at++;
  const show = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 30), at + 60));
  return `at ${at} of ${from.length}, ${to.length}: ${show(from)} became ${show(to)}`;
}
