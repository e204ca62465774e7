// npm run size: how large the house is. Lines that hold code (no blank ones, no comments), files, and files with one importer, of each
// folder at the top of a package; the walks of single calls are `npm run walk`. Prints a table and changes nothing.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { root, runMain } from './run.mjs';

const isSource = (file) => /\.(tsx?|mjs|js|py)$/.test(file) && !/\.test\.tsx?$|\.d\.ts$/.test(file);

await runMain(import.meta.url, async () => {
  const rows = new Map();
  const packages = readdirSync(join(root, 'packages'));
  for (const name of packages) {
    const src = join(root, 'packages', name, 'src');
    const files = filesIn(src).filter(isSource);
    const importers = importersOf(files);
    for (const file of files) {
      const [top = '', ...below] = relative(src, file).split('/');
      const key = below.length === 0 ? `${name}` : `${name}/${top}`;
      const row = rows.get(key) ?? { lines: 0, files: 0, ofOne: 0 };
      rows.set(key, row);
      row.lines += codeLines(file);
      row.files += 1;
      if (importers.get(file)?.size === 1) row.ofOne += 1;
    }
  }
  const sum = (keys) => keys.reduce((total, key) => total + rows.get(key).lines, 0);
  for (const [key, { lines, files, ofOne }] of [...rows].sort())
    process.stdout.write(
      `${String(lines).padStart(7)} lines ${String(files).padStart(4)} files ${String(ofOne).padStart(4)} with one importer  ${key}\n`,
    );
  for (const name of packages) {
    const keys = [...rows.keys()].filter((key) => key === name || key.startsWith(`${name}/`));
    process.stdout.write(`${String(sum(keys)).padStart(7)} lines in all of packages/${name}/src\n`);
  }
  process.stdout.write(`${String(sum([...rows.keys()])).padStart(7)} lines in all\n`);
  return 0;
});

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());
}

function codeLines(file) {
  const text = readFileSync(file, 'utf8');
  if (file.endsWith('.py')) return text.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('#')).length;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lines = new Set();
  const mark = (node) => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(source);
    for (const child of children) mark(child);
    if (children.length > 0 || node.getWidth(source) === 0) return;
    const [from, to] = [node.getStart(source), node.getEnd()].map((at) => source.getLineAndCharacterOfPosition(at).line);
    for (let line = from; line <= to; line++) lines.add(line);
  };
  mark(source);
  return lines.size;
}

/** By file: the files of the same package, tests apart, that import it. */
function importersOf(files) {
  const importers = new Map();
  for (const file of files) {
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles) {
      if (!fileName.startsWith('.')) continue;
      const path = resolve(dirname(file), fileName);
      const found = [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')].find((each) => files.includes(each));
      if (found !== undefined) importers.set(found, (importers.get(found) ?? new Set()).add(file));
    }
  }
  return importers;
}
