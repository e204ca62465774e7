const { packagesMayImport, foldersMayImport } = require('./scripts/may-import.cjs');

const tests = '\\.test\\.ts$';
const sourceOf = (name) => `^packages/${name}/src/`;
const src = sourceOf('notebridge');

/** The path of folders and files of a package. */
const pathOf = (named, within = src) =>
  `${within}(${named.map((part) => (part.endsWith('.ts') ? `${part.replace('.', '\\.')}$` : `${part}/`)).join('|')})`;

/** A rule for each key of a list, which may import what the list gives it: names that stand above it. */
const rulesOf = (lists, ruleOf) =>
  Object.entries(lists).map(([part, list], at) => {
    const above = Object.keys(lists).slice(0, at);
    const allowed = list === 'all above' ? above : list;
    const below = allowed.filter((name) => !above.includes(name.split('/')[0]) && !/^[\w-]+\.ts$/.test(name));
    if (below.length > 0) throw new Error(`scripts/may-import.cjs: ${part} may import ${below.join(', ')}, which has to stand above it.`);
    return {
      comment: `${part} may import: ${allowed.join(', ') || 'nothing'}. Move the code to the part that uses it, or take what it needs as a parameter. Another name in scripts/may-import.cjs is a decision.`,
      severity: 'error',
      ...ruleOf(part, allowed),
    };
  });

const packageRules = rulesOf(packagesMayImport, (name, allowed) => ({
  name: `${name}-imports`,
  from: { path: sourceOf(name), pathNot: tests },
  to: { path: '^packages/[^/]+/src/', pathNot: sourceOf(`(${[name, ...allowed].join('|')})`) },
}));

const folderRules = Object.entries(foldersMayImport).flatMap(([name, lists]) =>
  rulesOf(lists, (part, allowed) => ({
    name: `${name}-${part.replace('.ts', '')}-imports`,
    from: { path: pathOf([part], sourceOf(name)), pathNot: tests },
    to: { path: sourceOf(name), pathNot: pathOf([part, ...allowed], sourceOf(name)) },
  })),
);

/** Node modules and packages that only some parts may use. */
const only = (name, modules, parts, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: '^packages/(notebridge|protocol|system|code-mode|cluster)/src/', pathNot: [...parts, tests] },
  to: { path: `^(node:)?(${modules.join('|')})$` },
});

module.exports = {
  forbidden: [
    ...packageRules,
    ...folderRules,
    {
      name: 'no-place-in-the-picture',
      comment:
        'Each file of src stands in a folder of the picture in ARCHITECTURE.md. Move it into one, or give the new folder its line in scripts/may-import.cjs.',
      severity: 'error',
      from: { path: '.*' },
      to: { path: `${src}`, pathNot: pathOf([...Object.keys(foldersMayImport.notebridge), 'index.ts']) },
    },
    {
      name: 'core-without-io',
      comment:
        'core/ holds nouns and seams. What reads, writes, listens or waits belongs into the part that does it: rpc/, and packages/system.',
      severity: 'error',
      from: { path: `${sourceOf('protocol')}core/`, pathNot: tests },
      to: { dependencyTypes: ['core', 'npm'] },
    },
    {
      name: 'index-is-the-outside',
      comment: 'index.ts is for users of the package. Inside, import from the file that defines the thing.',
      severity: 'error',
      from: { path: `${src}`, pathNot: tests },
      to: { path: `${src}index\\.ts$` },
    },
    {
      name: 'index-without-cli',
      comment: 'The library does not load the command. Move what users of the library need out of cli/.',
      severity: 'error',
      from: { path: `${src}index\\.ts$` },
      to: { path: `${src}cli/` },
    },
    {
      name: 'demo-is-a-user',
      comment: 'The demo works with the package as a user does. Talk to the program, or import what index.ts exports.',
      severity: 'error',
      from: { path: '^packages/notebridge/demo/' },
      to: { path: `${src}`, pathNot: `${src}index\\.ts$` },
    },
    {
      name: 'src-without-tests',
      comment: 'The program never imports tests or their fixtures. Move what both need into src/, and import it from the test.',
      severity: 'error',
      from: { path: `${src}`, pathNot: tests },
      to: { path: [tests, '^packages/[^/]+/test/'] },
    },
    {
      name: 'no-circular',
      comment:
        'The files of a cycle can only be understood, tested and loaded together. Move what both need into a third file, or pass it in as a parameter.',
      severity: 'error',
      // Files of the notebook's window and of its kernel still do.
      from: { pathNot: '^packages/(notebook|sandbox)/' },
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports this file, and it imports nothing. Use it or delete it.',
      severity: 'error',
      from: { orphan: true, path: `${src}`, pathNot: [tests, '\\.d\\.ts$', `${src}(reference/)?index\\.ts$`] },
      to: {},
    },
    {
      name: 'no-unresolvable',
      comment:
        'The file or package does not exist. Correct the path (with .js at its end), or add the package to packages/notebridge/package.json.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    only(
      'child-processes-in-processes',
      ['child_process', 'cluster', '.*node_modules/(cross-spawn|execa|node-pty)/.*'],
      [pathOf(['processes'], sourceOf('system'))],
      'Only processes/ of packages/system starts child processes: it guards them and ends their whole tree. Use what it exports, or take the started child as a parameter.',
    ),
    only(
      'files-in-state',
      ['fs', 'fs/promises'],
      [sourceOf('system'), pathOf(['config', 'assembly', 'cli'])],
      'Only packages/system, config/, assembly/ and cli/ touch files. Use files/ of packages/system for files of ours (atomic, locked, 0600); else take the content as a parameter.',
    ),
    only(
      'process-at-the-edges',
      ['process'],
      [sourceOf('system'), pathOf(['assembly', 'cli', 'config'])],
      'Only assembly/, cli/, config/ and packages/system know the process we run in. Take the variable, path, stream or clock as a parameter.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { conditionNames: ['notebridge-source', 'import', 'node', 'types', 'default'], exportsFields: ['exports'] },
    moduleSystems: ['es6'],
  },
};
