import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { anyForm, writeInForm } from '../../support/file-forms.js';
import { anyDiskNotebook } from '../../support/notebooks.js';

export interface NotebookToEdit {
  readonly name: string;
  read(): Promise<Uint8Array>;
}

/** A folder with notebooks of the world, as many as wished: `NOTEBRIDGE_NOTEBOOKS=FOLDER npm test -- edited-notebooks`. */
const { NOTEBRIDGE_NOTEBOOKS: folder } = process.env;

/** Those of the folder, else some in forms of all kinds. */
export async function notebooksToEdit(): Promise<NotebookToEdit[]> {
  if (folder === undefined) return madeUp();
  const names = await readdir(folder, { recursive: true });
  const notebooks = names.filter((name) => name.endsWith('.ipynb')).sort();
  return notebooks.map((name) => ({ name, read: () => readFile(join(folder, name)) }));
}

function madeUp(): NotebookToEdit[] {
  const made = fc.sample(fc.tuple(anyDiskNotebook, anyForm), { seed: 20261128, numRuns: 40 });
  return made.map(([notebook, form], index) => ({ name: `made-${index}.ipynb`, read: async () => writeInForm(notebook, form) }));
}
