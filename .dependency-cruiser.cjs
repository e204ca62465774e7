const { mayImport, notebookMayImport } = require('./scripts/may-import.cjs');

const src = '^packages/notebridge/src';
const tests = '\\.test\\.ts$';
const parts = Object.keys(mayImport);

/** The path of parts: folders, and files. */
const pathOf = (named, folder = src) =>
  `${folder}/(${named.map((part) => (part.endsWith('.ts') ? `${part.replace('.', '\\.')}$` : `${part}/`)).join('|')})`;

const allowListsOf = (folder, lists) =>
  Object.entries(lists).map(([part, list], at) => {
    const above = Object.keys(lists).slice(0, at);
    const allowed = list === 'all above' ? above : list;
    const below = allowed.filter((name) => !above.includes(name.split('/')[0]));
    if (below.length > 0) throw new Error(`scripts/may-import.cjs: ${part} may import ${below.join(', ')}, which has to stand above it.`);
    return {
      name: `${folder.split('/')[1]}-${part.replace('.ts', '')}-imports`,
      comment: `${part} may import: ${allowed.join(', ') || 'nothing'}. Move the code to the part that uses it, or take what it needs as a parameter. Another name in scripts/may-import.cjs is a decision.`,
      severity: 'error',
      from: { path: pathOf([part], folder), pathNot: tests },
      to: { path: `${folder}/`, pathNot: pathOf([part, ...allowed], folder) },
    };
  });

/** Node modules and packages that only some parts may use. */
const only = (name, modules, parts, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: `${src}/`, pathNot: [pathOf(parts), tests] },
  to: { path: `^(node:)?(${modules.join('|')})$` },
});

module.exports = {
  forbidden: [
    ...allowListsOf(src, mayImport),
    ...allowListsOf('^packages/notebook/src', notebookMayImport),
    {
      name: 'no-place-in-the-picture',
      comment:
        'Each file of src stands in a folder of the picture in ARCHITECTURE.md. Move it into one, or give the new folder its line in scripts/may-import.cjs.',
      severity: 'error',
      from: { path: '.*' },
      to: { path: `${src}/`, pathNot: pathOf([...parts, 'index.ts']) },
    },
    {
      name: 'core-without-io',
      comment:
        'core/ holds nouns and seams. What reads, writes, listens or waits belongs into the part that does it: rpc/, processes/, state/.',
      severity: 'error',
      from: { path: `${src}/core/`, pathNot: tests },
      to: { dependencyTypes: ['core', 'npm'] },
    },
    {
      name: 'index-is-the-outside',
      comment: 'index.ts is for users of the package. Inside, import from the file that defines the thing.',
      severity: 'error',
      from: { path: `${src}/`, pathNot: tests },
      to: { path: `${src}/index\\.ts$` },
    },
    {
      name: 'index-without-cli',
      comment: 'The library does not load the command. Move what users of the library need out of cli/.',
      severity: 'error',
      from: { path: `${src}/index\\.ts$` },
      to: { path: `${src}/cli/` },
    },
    {
      name: 'demo-is-a-user',
      comment: 'The demo works with the package as a user does. Talk to the program, or import what index.ts exports.',
      severity: 'error',
      from: { path: '^packages/notebridge/demo/' },
      to: { path: `${src}/`, pathNot: `${src}/index\\.ts$` },
    },
    {
      name: 'src-without-tests',
      comment: 'The program never imports tests or their fixtures. Move what both need into src/, and import it from the test.',
      severity: 'error',
      from: { path: `${src}/`, pathNot: tests },
      to: { path: [tests, '^packages/[^/]+/test/'] },
    },
    {
      name: 'no-circular',
      comment:
        'The files of a cycle can only be understood, tested and loaded together. Move what both need into a third file, or pass it in as a parameter.',
      severity: 'error',
      // Files of the notebook's window and of its kernel still do.
      from: { pathNot: '^packages/notebook/' },
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports this file, and it imports nothing. Use it or delete it.',
      severity: 'error',
      from: { orphan: true, path: `${src}/`, pathNot: [tests, '\\.d\\.ts$', `${src}/(reference/)?index\\.ts$`] },
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
      ['processes'],
      'Only processes/ starts child processes: it guards them and ends their whole tree. Use what it exports, or take the started child as a parameter.',
    ),
    only(
      'files-in-state',
      ['fs', 'fs/promises'],
      ['state', 'config', 'processes', 'assembly', 'cli'],
      'Only state/, config/, processes/, assembly/ and cli/ touch files. Use state/ for files of ours (atomic, locked, 0600); else take the content as a parameter.',
    ),
    only(
      'process-at-the-edges',
      ['process'],
      ['assembly', 'cli', 'config', 'processes'],
      'Only assembly/, cli/, config/ and processes/ know the process we run in. Take the variable, path, stream or clock as a parameter.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '/dist/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { conditionNames: ['import', 'node', 'types', 'default'], exportsFields: ['exports'] },
    moduleSystems: ['es6'],
  },
};
