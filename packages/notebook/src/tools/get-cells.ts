import type { JsonObject } from '@notebridge/protocol/json';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import type { Cell } from '../model/cell.js';
import { NotebookError } from '../model/errors.js';
import { toLines } from '../model/text.js';
import { cellId, cellIndex } from './arguments.js';
import { fitOutputs, fitPart, shareOut, sizeOfOutputs, wholeCharacter } from './fit-outputs.js';
import { createImageCollector, maxTextCharactersOf } from './output-content.js';
import { defineNotebookTool, looks } from './tool.js';

interface GetCellsArguments {
  cellIndexStart?: number;
  cellIndexEnd?: number;
  includeOutputs?: boolean;
  cellId?: string;
  sourceFrom?: number;
  sourceTo?: number;
}

export const getCells = defineNotebookTool<GetCellsArguments>({
  name: 'get_cells',
  description:
    'Reads cells, by default all that fit; "next_cell_index" and "next_source_from" say where to go on. Answers {"cells": [{cell_type, id, source, rev, outputs?}]}; "rev" (of sources read whole) is for expected_rev.',
  properties: {
    cellIndexStart: { ...cellIndex, description: 'First cell to read. Default: the first.' },
    cellIndexEnd: { ...cellIndex, description: 'Last cell to read, itself included. Default: the last.' },
    includeOutputs: { type: 'boolean', default: false, description: 'Reads the outputs of code cells too.' },
    cellId: { ...cellId, description: 'Reads this cell alone.' },
    sourceFrom: {
      type: 'integer',
      minimum: 0,
      description: 'With cellId: first character of its source.',
    },
    sourceTo: { type: 'integer', minimum: 0, description: 'Ends before this character. Default: what fits.' },
  },
  required: [],
  annotations: { ...looks('Read cells'), idempotentHint: true },
  async answer({ session, args, options }) {
    const { cells } = session.document;
    const { cellIndexStart = 0, cellIndexEnd = Math.max(cellIndexStart, cells.length), includeOutputs = false } = args;
    assertFitting({ ...args, cellIndexStart, cellIndexEnd });
    const maxCharacters = maxTextCharactersOf(options);
    const one = args.cellId === undefined ? undefined : session.document.get(args.cellId).cell;
    if (one && args.sourceFrom !== undefined) return { value: { cells: [toPart(one, args.sourceFrom, args.sourceTo, maxCharacters)] } };
    const images = createImageCollector(options, session.widgets);
    const asked = one ? [one] : cells.slice(cellIndexStart, cellIndexEnd + 1);
    const shown = fitSources(asked, maxCharacters);
    const read: CellView[] = [];
    for (const [index, view] of shown.entries()) {
      const { type, outputs = [] } = asked[index] ?? {};
      read.push(includeOutputs && type === 'code' ? { ...view, outputs: await images.collect(outputs) } : view);
    }
    const left = asked.length - shown.length;
    const next = left === 0 ? {} : { cells_left_out: left, next_cell_index: cellIndexStart + shown.length };
    return { value: { cells: fitCells(read, maxCharacters), ...next }, images: images.blocks };
  },
});

/** What a cell takes besides its source. */
const frameCharacters = 150;

/** The first of the cells, with all sources together in so many characters: of a long one the beginning, and where it goes on. */
function fitSources(cells: readonly Cell[], maxCharacters: number): CellView[] {
  const sizes = cells.map(({ source }) => frameCharacters + JSON.stringify(toLines(source)).length);
  let [count, taken] = [0, 0];
  // A long one has a quarter at least: with less of each, an agent would read nothing but beginnings.
  for (const size of sizes) {
    taken += Math.min(size, maxCharacters / 4);
    if (taken > maxCharacters) break;
    count++;
  }
  const shares = shareOut(sizes.slice(0, count), maxCharacters);
  return cells
    .slice(0, count)
    .map((cell, index) =>
      (shares[index] ?? 0) < (sizes[index] ?? 0) ? toPart(cell, 0, undefined, (shares[index] ?? 0) - 2 * frameCharacters) : toView(cell),
    );
}

type CellView = JsonObject & { outputs?: JsonObject[] };

/** Below this, outputs are left out as a whole. */
const leastCharacters = 300;

/** All outputs together in so many characters: where a cell's do not fit, it says what is missing. */
export function fitCells(cells: readonly CellView[], maxCharacters: number): CellView[] {
  const sizes = cells.map(({ outputs }) => (outputs ? sizeOfOutputs(outputs) : 0));
  const shares = shareOut(sizes, maxCharacters);
  return cells.map((cell, index) => {
    const [size = 0, share = 0] = [sizes[index], shares[index]];
    if (!cell.outputs || share >= size) return cell;
    if (share >= leastCharacters) return { ...cell, outputs: fitOutputs(cell.outputs, share) };
    const count = cell.outputs.length === 1 ? '1 output' : `${cell.outputs.length} outputs`;
    return { ...cell, outputs: [], outputs_left_out: `${count}, ${size} characters: read fewer cells at once` };
  });
}

/** Throws `bad_arguments`. */
function assertFitting({ cellIndexStart, cellIndexEnd, cellId: id, sourceFrom, sourceTo }: AskedCells): void {
  const fault =
    cellIndexEnd < cellIndexStart
      ? `cellIndexEnd (${cellIndexEnd}) is before cellIndexStart (${cellIndexStart})`
      : sourceFrom === undefined
        ? sourceTo !== undefined && 'sourceTo needs sourceFrom'
        : id === undefined
          ? 'sourceFrom needs cellId'
          : sourceTo !== undefined && sourceTo <= sourceFrom && `sourceTo (${sourceTo}) is not behind sourceFrom (${sourceFrom})`;
  if (fault) throw new NotebookError('bad_arguments', `Invalid arguments for get_cells: ${fault}.`);
}

type AskedCells = GetCellsArguments & Required<Pick<GetCellsArguments, 'cellIndexStart' | 'cellIndexEnd'>>;

/** A range of one source, as much of it as fits. The parts of one revision, one behind the other, are the source. */
function toPart(cell: Cell, from: number, to: number | undefined, maxCharacters: number): CellView {
  const { source } = cell;
  const start = wholeCharacter(source, Math.min(from, source.length));
  const stop = wholeCharacter(source, Math.min(to ?? source.length, source.length));
  // One that ends within its first character has all of it: from where it goes on, reading gets further.
  const part = fitPart(source.slice(start, stop > start ? stop : start + 2), maxCharacters, toLines);
  const end = start + part.length;
  const next = end < source.length ? { next_source_from: end } : {};
  return { ...toView({ ...cell, source: part }), rev: revOf(cell), source_from: start, characters: source.length, ...next };
}

function toView(cell: Cell): CellView {
  const { type, id, source } = cell;
  return { cell_type: type, id, source: toLines(source), rev: revOf(cell) };
}
