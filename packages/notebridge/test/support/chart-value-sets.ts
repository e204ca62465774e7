import type { JsonObject } from '@notebridge/protocol/json';

/* Values that the chart is rendered with. */

export const alone = { hubs: 1 };
export const three = {
  cluster: { urls: ['nats://nats:4222'], key: { secret: 'cluster' }, credentials: { secret: 'nats' }, tls: { secret: 'nats' } },
};
export const everything = {
  hubs: 5,
  image: { repository: 'registry.example/hub', digest: `sha256:${'0'.repeat(64)}`, pullSecrets: ['login'] },
  mcpServers: { everything: { command: 'mcp-server-everything', env: { KEY: '${KEY}' } } },
  notebridge: { telemetry: { metrics: true }, limits: { maxBodyBytes: 16_777_216 } },
  env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } }],
  cluster: {
    urls: ['tls://nats-0.nats:4222', 'tls://nats-1.nats:4222'],
    name: 'team_1',
    key: { secret: 'cluster', key: 'shared' },
    credentials: { secret: 'nats', key: 'hub.creds' },
    tls: { secret: 'nats-tls', clientCertificate: true },
    replicas: 5,
    audit: { maxDays: 7, maxBytes: 20_000_000_000 },
  },
  ownerToken: { secret: 'owner' },
  allowHosts: ['tools.example'],
  allowOrigins: ['https://app.example'],
  service: { port: 80, annotations: { 'example.com/a': 'b' } },
  ingress: { enabled: true, className: 'nginx', annotations: { 'example.com/c': 'd' }, hosts: ['hub.example'], tlsSecret: 'tls' },
  sandbox: 'auto',
  codeMayTakeKeys: true,
  metrics: {
    enabled: true,
    tokens: { secret: 'scrape', key: 'prometheus' },
    podMonitor: { enabled: true, labels: { release: 'prometheus' } },
    alerts: { enabled: true, labels: { release: 'prometheus' }, pages: 'https://wiki.example/alerts/' },
    dashboard: { enabled: true },
  },
  podDisruptionBudget: { maxUnavailable: '25%' },
  networkPolicy: { egress: [{ to: [{ ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ protocol: 'TCP', port: 443 }] }] },
  drain: { leaveServiceSeconds: 10, seconds: 120 },
  state: { persistent: true, size: '5Gi', storageClass: 'fast' },
  volumes: [{ name: 'files', emptyDir: {} }],
  volumeMounts: [{ name: 'files', mountPath: '/srv/files' }],
  nodeSelector: { a: 'b' },
  tolerations: [{ key: 'tools', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  podAnnotations: { 'example.com/e': 'f' },
  podLabels: { team: 'tools' },
  priorityClassName: 'high',
};
export const scaled = {
  cluster: { urls: ['nats://nats:4222'], key: { secret: 'cluster' }, insecure: true, audit: { enabled: false } },
  scaledByOthers: true,
  networkPolicy: { enabled: false },
  podDisruptionBudget: { enabled: false },
};
const longest = `${'a'.repeat(63)}.`.repeat(4).slice(0, 253).replace(/.$/, 'a');
const atMost = {
  hubs: 100,
  image: { repository: longest, tag: 't'.repeat(128), pullPolicy: 'Never', pullSecrets: [longest] },
  cluster: {
    urls: Array.from({ length: 50 }, (_, at) => `nats://nats-${at}:4222`),
    name: 'n'.repeat(64),
    key: { secret: longest, key: longest },
    credentials: { secret: longest, key: longest },
    tls: { secret: longest, clientCertificate: true },
    replicas: 5,
    audit: { maxDays: 36_500, maxBytes: Number.MAX_SAFE_INTEGER },
  },
  ownerToken: { secret: longest, key: longest },
  allowHosts: [longest],
  clusterDomain: longest,
  service: { port: 65_535 },
  ingress: {
    enabled: true,
    className: longest,
    hosts: [longest],
    paths: ['/mcp', '/api/v1/mcp/proxy', '/api/v1/exchange', '/.well-known/oauth-protected-resource'],
    tlsSecret: longest,
  },
  metrics: { enabled: true, tokens: { secret: longest, key: longest }, podMonitor: { enabled: true, interval: '999999m' } },
  podDisruptionBudget: { maxUnavailable: '100%' },
  networkPolicy: { nats: { port: 65_535 } },
  drain: { leaveServiceSeconds: 600, seconds: 3600 },
  state: { persistent: true, size: '999999999999999999', storageClass: longest },
  tmpSize: '999Pi',
  resources: { requests: { cpu: 64 }, limits: { memory: '1.5Ti', 'example.com/gpu': 1 } },
  podLabels: { [`${longest}/${'l'.repeat(63)}`]: 'v'.repeat(63) },
  priorityClassName: longest,
};
const atLeast = {
  hubs: 1,
  cluster: { ...three.cluster, name: 'n', replicas: 0, audit: { maxDays: 1, maxBytes: 1_048_576 } },
  service: { port: 1 },
  ingress: { enabled: true, hosts: ['h'], tlsElsewhere: true },
  podDisruptionBudget: { maxUnavailable: 1 },
  networkPolicy: { callers: [], nats: { port: 1 } },
  drain: { leaveServiceSeconds: 0, seconds: 1 },
  state: { size: '1' },
  tmpSize: '1',
  resources: {},
  topologySpreadConstraints: [],
};
export const valueSets: [string, JsonObject][] = [
  ['one hub alone', alone],
  ['three hubs', three],
  ['hubs that something else scales', scaled],
  ['everything set', everything],
  ['each value at its upper limit', atMost],
  ['each value at its lower limit', atLeast],
];
