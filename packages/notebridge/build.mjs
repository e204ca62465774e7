// Copies what generated packages carry as it is, Python and JavaScript, beside the emitters in dist/. The compiler sees only TypeScript.
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

for (const language of ['python', 'typescript']) {
  const [from, to] = ['src', 'dist'].map((folder) => fileURLToPath(new URL(`${folder}/bindings/${language}/runtime/`, import.meta.url)));
  // What was taken out of the sources must not live on.
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, filter: (path) => !/(__pycache__|\.mypy_cache|\.pyc$|\.test\.)/.test(path) });
}
