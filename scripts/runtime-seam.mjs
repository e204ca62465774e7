// What hubs agree by takes time, timers and chance from `util/runtime.ts`: only so the simulation runs the same code as the program.
import ts from 'typescript';

/** Where it holds: all of packages/cluster but the engine that carries it, whatever takes a `Runtime` (or `ClusterParts`, which have one), and further files that are named here. */
const engine = /^packages\/cluster\/src\/nats\//;
const seamed = /^packages\/cluster\/src\//;
const takesRuntime =
  /^import (?:type )?\{[^}]*\b(?:Runtime\b[^}]*\} from '[^']*\/util\/runtime|ClusterParts\b[^}]*\} from '[^']*\/cluster-parts)(?:\.js)?';$/m;
/** @type {string[]} */
const furtherFiles = [
  'packages/notebridge/src/doors/tool-proxy/shared-answers.ts',
  'packages/notebridge/src/grants/call-leases.ts',
  'packages/notebridge/src/grants/grant-index.ts',
  'packages/notebridge/src/grants/grant-store.ts',
  'packages/notebridge/src/grants/shared-grant-entry.ts',
  'packages/notebridge/src/grants/shared-grant-writer.ts',
  'packages/notebridge/src/grants/shared-grants.ts',
  'packages/protocol/src/util/sealed-text.ts',
];

/** Global functions and modules, and members of globals. */
const names = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'performance',
  'randomBytes',
  'randomUUID',
  'randomInt',
  'getRandomValues',
]);
const members = new Set(['Date.now', 'Math.random', 'process.hrtime', 'AbortSignal.timeout', 'Temporal.Now']);
const modules = /^(node:)?(timers(\/promises)?|perf_hooks)$/;

/**
 * @param {readonly { file: string, text: string }[]} files of the repository
 * @param {readonly string[]} [further]
 * @returns {string[]} complaints
 */
export function findPastRuntime(files, further = furtherFiles) {
  const missing = further.filter((name) => !files.some(({ file }) => file === name));
  const watched = files.filter(({ file, text }) => {
    if (!/^packages\/(?:cluster|code-mode|notebridge|protocol|system)\/src\/.*(?<!\.test)\.ts$/.test(file) || engine.test(file))
      return false;
    return seamed.test(file) || further.includes(file) || takesRuntime.test(text);
  });
  return [
    ...missing.map((name) => `scripts/runtime-seam.mjs: "${name}" is not there. Take the line out.`),
    ...watched.flatMap(({ file, text }) =>
      usesOf(file, text).map(
        ({ line, what }) =>
          `${file}:${line}: uses ${what}. Hubs agree by this code, so it takes time, timers and chance from a \`Runtime\` of util/runtime.ts, as the simulation does.`,
      ),
    ),
  ];
}

/** @param {string} file @param {string} text */
function usesOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {{ line: number, what: string }[]} */
  const uses = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const what = useOf(node);
    if (what) uses.push({ line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1, what });
    else node.forEachChild(visit);
  };
  visit(source);
  return uses;
}

/** @param {ts.Node} node @returns {string | undefined} */
function useOf(node) {
  if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'Date' && !node.arguments?.length)
    return 'new Date()';
  if (ts.isPropertyAccessExpression(node)) {
    const path = node.getText().replaceAll(/\s|\?/g, '');
    const found = [...members].find((member) => path === member || path.endsWith(`globalThis.${member}`));
    if (found) return found;
  }
  if (ts.isStringLiteral(node) && modules.test(node.text) && isModuleName(node)) return node.text;
  if (ts.isIdentifier(node) && names.has(node.text) && !isOnlyAName(node)) return node.text;
  return undefined;
}

/** @param {ts.Node} node */
function isModuleName(node) {
  const { parent } = node;
  return ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent) || ts.isCallExpression(parent);
}

/** `options.performance` and `{ performance: 1 }` mean something else, but for what hangs on a module or on the global object. */
function isOnlyAName(/** @type {ts.Identifier} */ node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return !/^(globalThis|crypto|webcrypto)$/.test(parent.expression.getText());
  return (ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent) || ts.isMethodDeclaration(parent)) && parent.name === node;
}
