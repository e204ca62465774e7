/**
 * What each part of packages/notebridge/src may import besides itself, packages/kit and packages of npm. A part names only parts above
 * it, so imports run one way. The README of each part says the same; `node scripts/repo-rules.mjs --update` writes it there.
 */
const mayImport = {
  util: [],
  core: ['util'],
  processes: ['core', 'util'],
  rpc: ['core', 'util'],
  state: ['core', 'util'],
  net: ['core', 'processes', 'util'],
  identity: ['core', 'processes', 'state', 'util'],
  questions: ['core', 'identity', 'rpc', 'util'],
  catalog: ['core', 'util'],
  middleware: ['core'],
  recent: ['core', 'rpc', 'state'],
  recording: ['core', 'rpc', 'util'],
  bindings: ['core', 'processes', 'state', 'util'],
  config: ['core', 'identity', 'processes', 'util'],
  skills: ['config', 'core', 'identity', 'processes', 'state', 'util'],
  grants: ['config', 'core', 'identity', 'net', 'processes', 'questions', 'rpc', 'state', 'util'],
  'code-mode': ['bindings', 'config', 'core', 'grants', 'identity', 'processes', 'questions', 'rpc', 'skills', 'state', 'util'],
  telemetry: ['code-mode', 'config', 'core', 'net', 'util'],
  upstreams: ['catalog', 'config', 'core', 'identity', 'processes', 'questions', 'rpc', 'state', 'telemetry', 'util'],
  notebooks: ['catalog', 'core', 'identity', 'net', 'processes', 'questions', 'rpc', 'state', 'util'],
  broker: ['core', 'notebooks', 'processes', 'questions', 'rpc', 'state', 'util'],
  cluster: ['config', 'core', 'identity', 'rpc', 'state', 'util'],
  'hub.ts': ['catalog', 'core', 'grants', 'middleware', 'recent'],
  doors: [
    ...['bindings', 'broker', 'catalog', 'cluster', 'code-mode', 'config', 'core', 'grants', 'hub.ts', 'identity', 'net', 'processes'],
    ...['recent', 'rpc', 'skills', 'state', 'util', 'notebooks/watched-notebooks.ts', 'notebooks/connection-state.ts'],
  ],
  reference: ['core', 'doors', 'hub.ts', 'identity', 'middleware', 'net', 'notebooks', 'processes', 'rpc', 'util'],
  assembly: 'all above',
  cli: 'all above',
};

/** The same for packages/notebook/src. */
const notebookMayImport = {
  model: [],
  sandbox: [],
  relay: ['sandbox'],
  kernel: ['model', 'relay', 'sandbox'],
  outputs: ['model'],
  widgets: ['kernel', 'model', 'outputs'],
  session: ['kernel', 'model', 'widgets'],
  kernels: ['kernel', 'model', 'relay', 'sandbox', 'session'],
  tools: ['kernel', 'model', 'outputs', 'session', 'widgets'],
  viewer: ['kernel', 'kernels', 'model', 'session'],
  host: ['kernel', 'kernels', 'model', 'outputs', 'sandbox', 'session', 'tools', 'viewer', 'widgets'],
  ui: ['kernel', 'kernels', 'model', 'outputs', 'session', 'viewer'],
  lab: ['host', 'kernel', 'model', 'outputs', 'session', 'tools', 'ui'],
};

module.exports = { mayImport, notebookMayImport };
