import { readFile } from 'node:fs/promises';
import { type JsonObject, parseNotebook, printNotebook } from '@notebridge/notebook';
import { ChildProgram } from './child-program.js';
import { expectSame, mismatch } from './expect.js';

/** What an agent has read of the notebook. */
export interface NotebookView {
  cells: { id: string; source: string }[];
  /** Base64 of each PNG image, in their order. */
  images: string[];
}

/** Reads the saved notebook anew, as any other program would, and checks that it is whole, valid, and what the agent has seen. */
export async function checkSavedFile(file: string, seen: NotebookView | undefined): Promise<number> {
  const text = await readFile(file, 'utf8');
  const { nbformat, nbformat_minor: minor } = JSON.parse(text) as JsonObject;
  expectSame('nbformat', `${nbformat}.${minor}`, '4.5');
  const { notebook, mended } = parseNotebook(text);
  expectSame('things to fix:', mended, []);
  expectSame("the text of the file as Jupyter's own nbformat writes it:", text, printNotebook(notebook));
  if (seen === undefined) return notebook.cells.length;
  const cells = notebook.cells.map(({ id, source }) => ({ id, source }));
  expectSame('the cells that the agent has seen:', cells, seen.cells);
  const outputs = notebook.cells.flatMap((cell) => cell.outputs as readonly { data?: JsonObject }[]);
  const images = outputs.flatMap(({ data }) => (data !== undefined && 'image/png' in data ? [String(data['image/png'])] : []));
  const plain = images.map((image) => image.replaceAll(/\s/g, ''));
  expectSame('the images that the agent has seen:', plain, seen.images);
  return cells.length;
}

const verdictProgram = `
import sys, nbformat
print("asked", flush=True)
with open(sys.argv[1], encoding="utf-8") as file:
    nbformat.validate(nbformat.read(file, as_version=nbformat.NO_CONVERT))
print("valid", nbformat.__version__)
`;

/** How long Python may take to start and look. Milliseconds. */
const pythonTimeoutMs = 15_000;

/**
 * Asks Python's nbformat for its verdict: its version if it finds the file valid, undefined if this machine does not have it.
 * `folder` must hold no Python, which would be loaded from where Python is started.
 */
export async function askPython(file: string, folder: string): Promise<string | undefined> {
  for (const command of ['python3', 'python']) {
    const python = new ChildProgram(command, ['-c', verdictProgram, file], { cwd: folder });
    let said = '';
    python.output.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const ending = await python.close(pythonTimeoutMs);
    const [asked, verdict] = said.trim().split(/\r?\n/);
    if (verdict?.startsWith('valid ') === true) return verdict.slice('valid '.length);
    if (asked === 'asked') throw mismatch("a notebook that Python's nbformat finds valid", `${ending}: ${python.lastWords}`);
  }
  return undefined;
}
