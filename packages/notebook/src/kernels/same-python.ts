import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { realPathOf } from '@notebridge/system/starts/seen-files';

/** Whether two paths mean one Python: `.venv`, `.venv/bin/python` and `.venv/bin/python3` do, and a link to any of them. */
export function isSamePython(one: string, other: string): boolean {
  return one === other || placeOf(one) === placeOf(other);
}

/** Of an environment its folder, since its programs are links to the Python that it was made of; else the program itself. */
function placeOf(path: string): string {
  const environment = [path, dirname(dirname(path))].find((folder) =>
    ['pyvenv.cfg', 'conda-meta'].some((name) => existsSync(join(folder, name))),
  );
  return realPathOf(environment ?? path) ?? path;
}
