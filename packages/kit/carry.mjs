// The last step of a package's build: what it uses of the kit goes along in `dist/kit`, and the imports point there. So the kit is
// published with each package, and no package of its own.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const kit = fileURLToPath(new URL('dist', import.meta.url));
const specifier = /(["'])@notebridge\/kit\/([\w-]+)\1/g;

/** @param {string} dist the folder that the compiler has written, which is changed in place */
export function carryKit(dist) {
  const target = join(dist, 'kit');
  rmSync(target, { recursive: true, force: true });
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(js|d\.ts)$/.test(name));
  /** @type {Set<string>} */
  const used = new Set();
  for (const name of files) {
    const file = join(dist, name);
    const text = readFileSync(file, 'utf8');
    const here = text.replaceAll(specifier, (_, quote, part) => {
      used.add(part);
      return `${quote}./${relative(dirname(file), join(target, part)).split(sep).join('/')}.js${quote}`.replace('./../', '../');
    });
    if (here !== text) writeFileSync(file, here);
  }
  for (const part of used) carry(part, target);
}

/** With what it imports itself. @param {string} part @param {string} target */
function carry(part, target) {
  for (const ending of ['js', 'd.ts']) cpSync(join(kit, `${part}.${ending}`), join(target, `${part}.${ending}`));
  const imported = readFileSync(join(kit, `${part}.js`), 'utf8') + readFileSync(join(kit, `${part}.d.ts`), 'utf8');
  for (const [, next] of imported.matchAll(/from '\.\/([\w-]+)\.js'/g)) if (next) carry(next, target);
}
