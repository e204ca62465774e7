import { statSync } from 'node:fs';
import { join, parse } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { quote } from '@notebridge/protocol/util/quote';

/** A notebook is written over whatever bears its name: a `notes.txt` that is named by mistake has to stay as it is. Throws `bad_usage`. */
export function assertNotebookName(file: string): void {
  if (file.endsWith('.ipynb')) return;
  if (isFolder(file))
    throw new BridgeError('bad_usage', `${quote(file)} is a folder. Name the notebook in it: ${quote(join(file, 'work.ipynb'))}`);
  throw new BridgeError(
    'bad_usage',
    `${quote(file)} is no name of a notebook, and was left alone. Name a file that ends in .ipynb: ${quote(nameFor(file))}`,
  );
}

export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // No name that could be one.
    return false;
  }
}

function nameFor(file: string): string {
  const { dir, name } = parse(file);
  return join(dir, `${name === '' || name.startsWith('.') ? 'work' : name}.ipynb`);
}
