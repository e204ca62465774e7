/** A part of the cells of a matrix, with the tags of their tests. */
export interface Part<Cell> {
  cells: Cell[];
  tags: string[];
}

/** Parts a matrix: those cells that the core tests, and the others, which are deep. */
export function coreAndDeep<Cell>(cells: readonly Cell[], isCore: (cell: Cell, index: number) => boolean): Part<Cell>[] {
  const core = cells.filter(isCore);
  return [
    { cells: core, tags: [] },
    { cells: cells.filter((cell) => !core.includes(cell)), tags: ['deep'] },
  ];
}

/** Cuts rounds that each draw something else: the core plays a third of them. */
export function roundsOf(all: number): number {
  return process.env.NOTEBRIDGE_TESTS === 'core' ? Math.ceil(all / 3) : all;
}

/**
 * Whether a cell is of the half that has each value of each of three or more factors beside each value of every other, where the last factor
 * has any number of values and the others two. `at` has the index of the value of each factor.
 */
export function isPairwise(...at: number[]): boolean {
  return at.reduce((sum, index) => sum + index, 0) % 2 === 0;
}
