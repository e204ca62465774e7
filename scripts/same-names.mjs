// One word per idea, one idea per word: no name is exported from two modules of the packages, and no two files of a package have one
// name, but where scripts/same-names.json gives the reason.
import { basename } from 'node:path';
import ts from 'typescript';

/** Commands are named by the word that is typed, whatever else has that name. */
const namedFromOutside = /\/cli\/commands\/|\/index\.ts$/;

/**
 * @param {readonly { file: string, text: string }[]} files of the repository
 * @param {Record<string, string>} reasons by name: why it stands twice
 * @returns {string[]} complaints
 */
export function findSameNames(files, reasons) {
  const sources = files.filter(({ file }) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file) && !/\.(test|d)\.ts$/.test(file));
  const exported = groupBy(sources.flatMap(({ file, text }) => exportsOf(file, text).map((name) => ({ key: name, file }))));
  const named = groupBy(
    sources
      .filter(({ file }) => !namedFromOutside.test(file))
      .map(({ file }) => ({ key: `${file.split('/')[1]}: ${basename(file)}`, file })),
  );
  const twice = [...exported, ...named].filter(([, places]) => new Set(places).size > 1);
  const used = new Set(twice.map(([name]) => name));
  return [
    ...twice
      .filter(([name]) => !Object.hasOwn(reasons, name))
      .map(
        ([name, places]) =>
          `"${name}" stands in ${places.join(' and ')}. Rename one by its idea, or give the reason in scripts/same-names.json.`,
      ),
    ...Object.keys(reasons)
      .filter((name) => !used.has(name))
      .map((name) => `scripts/same-names.json: "${name}" stands once by now. Take the line out.`),
  ];
}

/** @param {string} file @param {string} text */
function exportsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement)) return [];
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
    return 'name' in statement && statement.name && ts.isIdentifier(statement.name) ? [statement.name.text] : [];
  });
}

/** @param {readonly { key: string, file: string }[]} entries */
function groupBy(entries) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const { key, file } of entries) groups.set(key, [...(groups.get(key) ?? []), file]);
  return groups;
}
