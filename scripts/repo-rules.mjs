// Rules of this repository that no tool off the shelf knows. `--update` rewrites what may be rewritten: the snapshot of the export
// names, and the numbers of the file-size list that may go down.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { privatePackages } from './carry-private.mjs';
import { foldersMayImport, packagesMayImport } from './may-import.cjs';
import { readJson, root, run, runMain, StepFailed } from './run.mjs';
import { findPastRuntime } from './runtime-seam.mjs';
import { findSameNames } from './same-names.mjs';
import { complaintsAbout, listOfRequirements, requirements, withdrawn } from './tests/requirements.mjs';
import { testsOfRequirements } from './tests/tags.mjs';

const maxLines = 350;
const maxReadmeLines = 30;
const sizesFile = 'scripts/file-size-exceptions.json';
const namesFile = 'scripts/export-names.json';
const library = 'packages/notebridge/dist';
const entries = { notebridge: 'index', 'notebridge/reference': 'reference/index' };

/** Each rule answers with its complaints: what is wrong, and what to do. */
const rules = { fileSizes, exportNames, sameNames, runtimeSeam, lockfile, machinePaths, promises, folderReadmes, stalePaths };

await runMain(import.meta.url, async (args) => {
  const unknown = args.find((arg) => arg !== '--update');
  if (unknown) throw new StepFailed(`Unknown option "${unknown}"; the only one is --update.`);
  const files = await repoFiles();
  const complaints = [];
  for (const rule of Object.values(rules)) complaints.push(...(await rule(files, args.includes('--update'))));
  for (const complaint of complaints) process.stdout.write(`${complaint}\n`);
  return complaints.length > 0 ? 1 : 0;
});

/** What is tracked or could be, without what .gitignore names. */
async function repoFiles() {
  const { code, output } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  if (code !== 0) throw new StepFailed(`The repository rules need git and a git checkout: ${output.trim()}`);
  const files = [...new Set(output.split('\0'))].filter((file) => file && existsSync(join(root, file)));
  return files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') })).filter(({ text }) => !text.includes('\0'));
}

function fileSizes(files, update) {
  const allowed = readJson(join(root, sizesFile));
  const code = files.filter(({ file }) => /\.([cm]?[jt]sx?|py)$/.test(file) && !/(^|\/)(generated|__snapshots__)\//.test(file));
  const lines = Object.fromEntries(code.map(({ file, text }) => [file, text.split('\n').length - (text.endsWith('\n') ? 1 : 0)]));
  const tooLong = Object.keys(lines).filter((file) => lines[file] >= maxLines && lines[file] > (allowed[file] ?? 0));
  const shrunk = Object.keys(allowed).filter((file) => allowed[file] > (lines[file] ?? 0) || lines[file] < maxLines);
  if (update) {
    const kept = Object.keys(allowed).filter((file) => lines[file] >= maxLines);
    writeJson(sizesFile, Object.fromEntries(kept.map((file) => [file, Math.min(allowed[file], lines[file])])));
    shrunk.length = 0;
  }
  return [
    ...tooLong.map((file) => `${file}: ${lines[file]} lines, ${allowed[file] ?? maxLines - 1} are allowed. Split it by its ideas.`),
    ...shrunk.map((file) => `${sizesFile}: "${file}" has ${lines[file] ?? 'no'} lines by now. Run: node scripts/repo-rules.mjs --update`),
  ];
}

/** The public surface: a name that comes or goes must be meant. */
async function exportNames(_files, update) {
  const found = {};
  for (const [name, entry] of Object.entries(entries)) {
    const path = join(root, library, entry);
    if (!existsSync(`${path}.js`)) return [`${library}/${entry}.js is not there. Run: npm run build`];
    const values = Object.keys(await import(pathToFileURL(`${path}.js`).href)).sort();
    const types = (await declaredNames(`${path}.d.ts`)).filter((each) => !values.includes(each)).sort();
    found[name] = { values, types };
  }
  if (update) writeJson(namesFile, found);
  const known = readJson(join(root, namesFile));
  const changes = Object.entries(found).flatMap(([name, { values, types }]) => [
    ...changeOf(`values of ${name}`, known[name]?.values ?? [], values),
    ...changeOf(`types of ${name}`, known[name]?.types ?? [], types),
  ]);
  if (changes.length === 0) return [];
  return [...changes, 'If this change of the public surface is meant, run: node scripts/repo-rules.mjs --update'];
}

async function declaredNames(declarations) {
  const { default: ts } = await import('typescript');
  const { NodeNext } = ts.ModuleKind;
  const program = ts.createProgram([declarations], { module: NodeNext, skipLibCheck: true, types: [] });
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(declarations));
  return module ? checker.getExportsOfModule(module).map((symbol) => symbol.name) : [];
}

function changeOf(kind, before, after) {
  const added = after.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !after.includes(name));
  return [
    ...(added.length > 0 ? [`exported ${kind} added: ${added.join(', ')}`] : []),
    ...(removed.length > 0 ? [`exported ${kind} removed: ${removed.join(', ')}`] : []),
  ];
}

function sameNames(files) {
  return findSameNames(files, readJson(join(root, 'scripts/same-names.json')));
}

function runtimeSeam(files) {
  return findPastRuntime(files);
}

/** A lockfile that names hosts installs only where those answer, and `npm ci` refuses one without an entry for every platform. */
function lockfile(files) {
  return files
    .filter(({ file }) => /(^|\/)package-lock\.json$/.test(file))
    .flatMap(({ file, text }) => {
      const entries = Object.entries(JSON.parse(text).packages);
      const present = new Set(entries.map(([path]) => path.split('node_modules/').at(-1)));
      const optional = entries.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}));
      const missing = [...new Set(optional)].filter((name) => !present.has(name));
      return [
        ...(text.includes('"resolved": "http') ? [`${file}: names a registry host. Keep .npmrc as it is, and run: npm install`] : []),
        ...missing.map((name) => `${file}: has no entry for "${name}", so npm ci fails. Use a version whose packages are all published.`),
      ];
    });
}

/** What only exists on one machine: this checkout's own path, or a home folder (write "you" for the name in examples). */
function machinePaths(files) {
  const homes = /(?<![\w.-])\/(?:home|Users)\/(?!(?:you|me|user|node|jovyan)\b|\.\.\.|\$|<)[a-z][\w.-]*\//i;
  return files.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, index) => {
      const found = line.includes(`${root}/`) ? root : line.match(homes)?.[0];
      return found
        ? [`${file}:${index + 1}: names the path "${found}" of one machine. Make it relative, or an example as /home/you/...`]
        : [];
    }),
  );
}

/** Each promise has a test, and says whether the core has it. */
async function promises() {
  return complaintsAbout(requirements(), withdrawn(), await testsOfRequirements()).map(
    (complaint) => `${listOfRequirements}: ${complaint}`,
  );
}

function writeJson(file, value) {
  writeFileSync(join(root, file), `${JSON.stringify(value, null, 2)}\n`);
}

/** Each folder at the top of a package says in one screen what it is, its rule, and what it may import: that is written here. */
function folderReadmes(_files, update) {
  const packages = privatePackages.map((name) => [`packages/${name}/README.md`, packagesMayImport, name]);
  const folders = Object.entries(foldersMayImport).flatMap(([name, list]) =>
    Object.keys(list).map((part) => [`packages/${name}/src/${part}/README.md`, list, part]),
  );
  return [...packages, ...folders]
    .filter(([, , part]) => !part.includes('.'))
    .flatMap(([file, list, part]) => readmeOf(file, `May import: ${textOf(list, part)}.`, update));
}

function readmeOf(file, line, update) {
  const path = join(root, file);
  if (!existsSync(path)) return [`${file} is not there. Say what the folder is, and its one rule.`];
  const text = readFileSync(path, 'utf8');
  const lines = text.trimEnd().split('\n');
  const tooLong =
    lines.length > maxReadmeLines
      ? [`${file}: ${lines.length} lines, ${maxReadmeLines} are allowed. The rest belongs into docs/internals/.`]
      : [];
  if (lines.at(-1) === line) return tooLong;
  if (!update) return [...tooLong, `${file}: its last line is not "${line}" Run: node scripts/repo-rules.mjs --update`];
  const others = lines.at(-1)?.startsWith('May import: ') ? lines.slice(0, -1) : [...lines, ''];
  writeFileSync(path, `${[...others, line].join('\n')}\n`);
  return tooLong;
}

/** What a part may import, in words. */
function textOf(list, part) {
  const names = Object.keys(list);
  if (list[part] !== 'all above') return list[part].join(', ') || 'nothing of this package';
  const below = names.slice(names.indexOf(part) + 1);
  return below.length === 0 ? 'every other folder' : `every folder but ${below.join(', ')}`;
}

/** Documents of the house name files that are there: by the end of their path, in code marks. */
function stalePaths(files) {
  const ends = new Set(files.flatMap(({ file }) => file.split('/').map((_, at, parts) => parts.slice(at).join('/'))));
  const isOfHouse = (file) => /^(ARCHITECTURE|CONTRIBUTING)\.md$|^docs\/internals\/|^packages\/.*README\.md$/.test(file);
  return files
    .filter(({ file }) => isOfHouse(file))
    .flatMap(({ file, text }) =>
      [...text.matchAll(/`((?:[\w-]+\/)*[\w-][\w.-]*\.(?:tsx?|mjs|cjs))`/g)]
        .filter(([, path]) => !ends.has(path))
        .map(([, path]) => `${file}: names "${path}", which is not there.`),
    );
}
