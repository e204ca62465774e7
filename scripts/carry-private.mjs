// The last step of a package's build: what it uses of the private packages goes along in `dist`, each in a folder of its name, and the imports
// point there. So they are published with each package, and are no packages of their own.
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../packages', import.meta.url));
const imported = /(["'])@notebridge\/([\w-]+)\/([\w./-]+)\1/g;
const imports = /\b(?:from|import\()\s*(["'])(\.[^"']+)\.js\1/g;

/** The names of the packages that are never published. */
export const privatePackages = readdirSync(packages).filter((name) => {
  const file = join(packages, name, 'package.json');
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).private === true;
});

/** @param {string} dist the folder that the compiler has written, which is changed in place */
export function carryPrivate(dist) {
  for (const name of privatePackages) rmSync(join(dist, name), { recursive: true, force: true });
  const wanted = new Set(modulesIn(dist).flatMap((file) => pointHere(file, dist)));
  // A set is gone through to its end, also while it grows.
  for (const module of wanted) for (const next of carry(module, dist)) wanted.add(next);
}

/** Brings a module, as `package/path` without its ending, and returns those that it imports itself. @param {string} module @param {string} dist */
function carry(module, dist) {
  const [name = '', ...path] = module.split('/');
  return ['.js', '.d.ts'].flatMap((ending) => {
    const from = join(packages, name, 'dist', ...path) + ending;
    const to = join(dist, module) + ending;
    if (!existsSync(from)) throw new Error(`${from} is not there, which ${dist} needs. Build the packages in their order: npm run build`);
    cpSync(from, to);
    const beside = [...readFileSync(to, 'utf8').matchAll(imports)].map(([, , next = '']) =>
      slashes(relative(dist, join(dirname(to), next))),
    );
    return [...beside, ...pointHere(to, dist)];
  });
}

/** Lets a file import from `dist` what it imports from private packages, and returns these modules. @param {string} file @param {string} dist */
function pointHere(file, dist) {
  /** @type {string[]} */
  const modules = [];
  const text = readFileSync(file, 'utf8');
  const here = text.replaceAll(imported, (whole, quote, name, path) => {
    if (!privatePackages.includes(name)) return whole;
    modules.push(`${name}/${path}`);
    const way = slashes(relative(dirname(file), join(dist, name, path)));
    return `${quote}${way.startsWith('.') ? way : `./${way}`}.js${quote}`;
  });
  if (here !== text) writeFileSync(file, here);
  return modules;
}

/** @param {string} dist */
function modulesIn(dist) {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  return files.filter((name) => /\.(js|d\.ts)$/.test(name)).map((name) => join(dist, name));
}

/** @param {string} path */
function slashes(path) {
  return path.split(sep).join('/');
}
