// What the compiler does not do: generated packages contain the files of `runtime/` unchanged, Python and JavaScript.
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { carryPrivate } from '../../scripts/carry-private.mjs';

carryPrivate(fileURLToPath(new URL('dist/', import.meta.url)));
for (const language of ['python', 'typescript'])
  cpSync(new URL(`src/${language}/runtime/`, import.meta.url), new URL(`dist/${language}/runtime/`, import.meta.url), {
    recursive: true,
    filter: (path) => !/(__pycache__|\.mypy_cache|\.pyc$|\.test\.)/.test(path),
  });
