// Imports in packages/notebridge/src run one way: a part may import only what stands in a line above its own, and parts of one
// line never import one another. ARCHITECTURE.md shows the same picture; change both together.
const layers = [
  ['util'],
  ['core'],
  ['processes', 'rpc', 'state'],
  ['identity', 'net', 'questions'],
  [
    'bindings',
    'broker',
    'catalog',
    'cluster',
    'code-mode',
    'config',
    'grants',
    'middleware',
    'notebooks',
    'recent',
    'recording',
    'skills',
    'telemetry',
    'upstreams',
  ],
  ['hub.ts'],
  ['doors'],
  ['reference'],
  ['assembly'],
  ['cli'],
];

const src = '^packages/notebridge/src';
const tests = '\\.test\\.ts$';
const advice = {
  util: 'util/ holds pure helpers that know nothing of Notebridge. Move the code that needs more to the part that uses it.',
  core: 'core/ holds nouns and seams, without I/O. Describe what you need as a small interface in core/, and let hub.ts hand in the thing that does it.',
  processes: 'processes/ starts child processes for others and knows none of them. Let the caller pass in what differs.',
  rpc: 'rpc/ carries JSON-RPC messages over channels and knows nobody who talks. Let the door or the provider pass in the channel and the handlers.',
  state: 'state/ keeps files for others and knows none of them. Let the caller pass in the name, the shape and the data.',
  identity:
    'identity/ tells whose hub this is and where it runs; what a token allows is decided in grants/. Let grants/, a door or the CLI call it.',
  net: 'net/ holds what every port of ours keeps, and knows none of them. Let the listener pass in what differs.',
  questions:
    'questions/ ties what a server asks to the call that it asks in, for whoever speaks with servers of the legacy era. Let the upstream or the page pass in how a call is sent.',
  feature:
    'A feature does not know who uses it. Offer a function or an interface (in core/ if others have to share it); hub.ts, a door or the CLI calls it.',
  'hub.ts': 'hub.ts joins the parts and does not know how it is reached. Let the door call the hub instead.',
  doors:
    'Doors only translate a protocol into calls of the hub. Move what is shared into the hub or core/, and let reference/ or assembly/ open the door.',
  reference: 'reference/ composes parts into the classes of the reference. What the command needs too belongs into the parts below it.',
};

/** The path of parts: folders, and files in src itself. */
const pathOf = (parts) => `${src}/(${parts.map((part) => (part.endsWith('.ts') ? `${part.replace('.', '\\.')}$` : `${part}/`)).join('|')})`;
const above = (index) => layers.slice(index + 1).flat();
const features = layers.find((layer) => layer.includes('catalog'));

const oneWay = layers.slice(0, -1).flatMap((layer, index) =>
  (layer === features ? [layer] : layer.map((part) => [part])).map((parts) => {
    const name = parts === features ? 'feature' : parts[0];
    return {
      name: `${name.replace('.ts', '')}-looks-up`,
      comment: `${advice[name]} Allowed from here: ${[...layers.slice(0, index).flat(), 'its own files'].join(', ')}.`,
      severity: 'error',
      from: { path: pathOf(parts), pathNot: tests },
      to: { path: pathOf(above(index)) },
    };
  }),
);

const neighbours = layers
  .filter((layer) => layer.length > 1)
  .map((layer) => ({
    name: layer === features ? 'features-apart' : `${layer.join('-and-')}-apart`,
    comment: `Parts side by side (${layer.join(', ')}) never import one another. Put the interface both need into core/, and join the two in hub.ts.`,
    severity: 'error',
    from: { path: `${src}/(${layer.join('|')})/`, pathNot: tests },
    to: { path: `${src}/(${layer.join('|')})/`, pathNot: `${src}/$1/` },
  }));

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
    ...oneWay,
    ...neighbours,
    {
      name: 'no-place-in-the-picture',
      comment:
        'Each file of src stands in a folder of the picture in ARCHITECTURE.md. Move it into one, or give the new folder its line in .dependency-cruiser.cjs.',
      severity: 'error',
      from: { path: '.*' },
      to: { path: `${src}/`, pathNot: pathOf([...layers.flat(), 'index.ts']) },
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
      name: 'doors-know-no-provider',
      comment:
        'A door reaches notebooks and servers through the hub. What it shares with a listener of theirs belongs into net/, with their sessions into rpc/.',
      severity: 'error',
      from: { path: `${src}/doors/`, pathNot: tests },
      to: { path: `${src}/(notebooks|upstreams)/` },
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
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports this file, and it imports nothing. Use it or delete it.',
      severity: 'error',
      from: { orphan: true, path: `${src}/`, pathNot: [tests, '\\.d\\.ts$', `${src}/index\\.ts$`] },
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
