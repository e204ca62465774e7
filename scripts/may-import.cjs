/** What each package may import of the others. A package names only packages above it, so imports run one way. */
const packagesMayImport = {
  protocol: [],
  system: ['protocol'],
  sandbox: ['protocol', 'system'],
  bindings: ['protocol'],
  page: ['protocol'],
  notebook: ['protocol', 'system', 'sandbox'],
  'code-mode': ['protocol', 'system', 'bindings'],
  cluster: ['protocol', 'system'],
  notebridge: 'all above',
};

/**
 * The same for the folders of a package: what each may import of the package besides itself. The README of each folder says it too;
 * `node scripts/repo-rules.mjs --update` writes it there.
 */
const foldersMayImport = {
  protocol: {
    util: ['exact-json.ts', 'json.ts'],
    core: ['exact-json.ts', 'json.ts', 'util'],
    rpc: ['core', 'exact-json.ts', 'json.ts', 'util'],
    questions: ['core', 'json.ts', 'rpc', 'util'],
    runs: ['core', 'json.ts', 'util'],
  },
  system: {
    starts: [],
    processes: ['starts'],
    files: ['processes', 'starts'],
    net: ['files', 'processes', 'starts'],
  },
  notebook: {
    model: [],
    kernel: ['model'],
    outputs: ['model'],
    widgets: ['kernel', 'model', 'outputs'],
    session: ['kernel', 'model', 'widgets'],
    kernels: ['kernel', 'model', 'session'],
    tools: ['kernel', 'model', 'outputs', 'session', 'widgets'],
    viewer: ['kernel', 'kernels', 'model', 'session'],
    host: ['kernel', 'kernels', 'model', 'outputs', 'session', 'tools', 'viewer', 'widgets'],
    ui: ['kernel', 'kernels', 'model', 'outputs', 'session', 'viewer'],
    lab: ['host', 'kernel', 'model', 'outputs', 'session', 'tools', 'ui'],
  },
  'code-mode': {
    bindings: [],
    skills: [],
    search: ['bindings', 'skills'],
    'type-check': ['search'],
    execution: ['search', 'type-check'],
    'saved-skills': ['execution', 'search', 'skills'],
  },
  notebridge: {
    identity: [],
    catalog: [],
    middleware: [],
    recent: [],
    recording: [],
    config: ['identity'],
    grants: ['config', 'identity'],
    telemetry: ['config'],
    upstreams: ['catalog', 'config', 'identity', 'telemetry'],
    notebooks: ['catalog', 'identity'],
    broker: ['notebooks'],
    'hub.ts': ['catalog', 'grants', 'middleware', 'recent'],
    doors: [
      ...['broker', 'catalog', 'config', 'grants', 'hub.ts', 'identity', 'recent'],
      ...['notebooks/watched-notebooks.ts', 'notebooks/connection-state.ts'],
    ],
    reference: ['doors', 'hub.ts', 'identity', 'middleware', 'notebooks'],
    assembly: 'all above',
    cli: 'all above',
  },
};

module.exports = { packagesMayImport, foldersMayImport };
