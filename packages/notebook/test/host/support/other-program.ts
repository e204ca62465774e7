import { fileURLToPath } from 'node:url';
import { pythonWith, runPython } from '../../../../../scripts/python-env.mjs';

const script = fileURLToPath(new URL('./edit_notebook.py', import.meta.url));

type Edit =
  | { do: 'update'; id: string; source: string }
  | { do: 'delete'; id: string }
  | { do: 'insert'; index: number; id: string; source: string }
  | { do: 'move'; id: string; index: number }
  | { do: 'metadata'; metadata: object }
  | { do: 'output'; id: string; text: string };

/** Edits the file with Python's nbformat, which writes it in place. */
export async function editWithPython(path: string, ...edits: Edit[]): Promise<void> {
  await runPython(await pythonWith(['nbformat']), [script, path, JSON.stringify(edits)]);
}
