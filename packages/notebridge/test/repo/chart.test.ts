// @module-tag deep
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/kit/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { defaultClusterAudit } from '../../src/core/cluster-settings.js';
import { createSecret } from '../../src/identity/secret.js';
import { chartFolder, helm, renderChart, runHelm } from '../support/chart.js';
import { documentsOf, installTimeoutMs, prepareValidators, validate } from '../support/deployment.js';
import { mountAsKubelet, type VolumeGroup } from '../support/kubelet-mount.js';
import { type Container, containersOf, podsOf } from '../support/manifests.js';
import { createHome, Program } from '../support/program.js';
import { installedServer, ServedHub } from '../support/served-hub.js';

if (helm.why !== undefined) process.stderr.write(`tests: the Helm chart is not rendered, since ${helm.why}\n`);

const alone = { hubs: 1 };
const three = { cluster: { urls: ['nats://nats:4222'], key: { secret: 'cluster' } } };
const everything = {
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
  service: { type: 'LoadBalancer', port: 80, annotations: { 'example.com/a': 'b' } },
  ingress: { enabled: true, className: 'nginx', annotations: { 'example.com/c': 'd' }, hosts: ['hub.example'], tlsSecret: 'tls' },
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
const scaled = {
  cluster: { ...three.cluster, audit: { enabled: false } },
  scaledByOthers: true,
  networkPolicy: { enabled: false },
  podDisruptionBudget: { enabled: false },
};
const valueSets: [string, JsonObject][] = [
  ['one hub alone', alone],
  ['three hubs', three],
  ['hubs that something else scales', scaled],
  ['everything set', everything],
];

let folder: string;
const rendered = async (values: JsonObject): Promise<JsonObject[]> => documentsOf(await renderChart(folder, values));
const ofKind = (documents: readonly JsonObject[], kind: string): JsonObject[] => documents.filter((document) => document.kind === kind);
const specOf = (documents: readonly JsonObject[], kind: string): JsonObject => (ofKind(documents, kind)[0]?.spec ?? {}) as JsonObject;

describe.skipIf(helm.program === undefined)(`the Helm chart${helm.why === undefined ? '' : `: ${helm.why}`}`, { timeout: 180_000 }, () => {
  beforeAll(async () => {
    await prepareValidators();
    folder = mkdtempSync(join(tmpdir(), 'notebridge-chart-'));
  }, installTimeoutMs);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(valueSets)(
    'a chart with %s passes the lint of Helm and keeps to the API of Kubernetes',
    { tags: ['P-544'] },
    async (_name, values) => {
      const file = await renderChart(folder, values);
      const linted = await runHelm(
        folder,
        'lint',
        '--strict',
        '--kube-version',
        '1.34.0',
        chartFolder,
        '--values',
        join(folder, 'values.yaml'),
      );
      expect(linted, linted.stdout + linted.stderr).toMatchObject({ code: 0 });
      expect(await validate('kubernetes-validate', '--strict', file)).toMatchObject({ code: 0 });
      writeFileSync(file, readFileSync(file, 'utf8').replace('volumeMounts:', 'volumeMonts:'));
      expect(await validate('kubernetes-validate', '--strict', file)).not.toMatchObject({ code: 0 });
    },
  );

  it.each(valueSets)(
    'a chart with %s has no container that is root, may become it, writes to its image or holds a token',
    { tags: ['P-544'] },
    async (_name, values) => {
      const [spec] = podsOf(await rendered(values));
      expect(spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true, runAsUser: 1000 } });
      for (const container of spec === undefined ? [] : containersOf(spec))
        expect(container.securityContext, container.name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    },
  );

  it.each([
    ['three hubs without a cluster', {}, 'hubs: 3 of them need a cluster. Set cluster.urls'],
    ['a cluster without a key', { cluster: { urls: ['nats://nats:4222'] } }, 'cluster.key.secret: name the Secret'],
    ['a cluster in the config', { ...three, notebridge: { cluster: {} } }, 'notebridge.cluster is written by the chart'],
    ['an Ingress without a name', { ...three, ingress: { enabled: true } }, 'ingress.hosts: name at least one host'],
    ['no hub', { hubs: 0 }, "'/hubs': minimum: got 0, want 1"],
    ['a number in words', { hubs: 'three' }, "'/hubs': got string, want integer"],
    ['an address of another kind', { cluster: { urls: ['http://nats'] } }, "'/cluster/urls/0': 'http://nats' does not match pattern"],
    ['a value that is not there', { clustr: {} }, "additional properties 'clustr' not allowed"],
    ['a name with a scheme', { allowHosts: ['https://hub.example'] }, "'/allowHosts/0': 'https://hub.example' does not match pattern"],
    [
      'a NetworkPolicy that lets hubs resolve names anywhere',
      { ...three, networkPolicy: { dns: [] } },
      "'/networkPolicy/dns': minItems: got 0",
    ],
    [
      'one that lets them reach all at the port of NATS',
      { ...three, networkPolicy: { nats: { to: [] } } },
      "'/networkPolicy/nats/to': minItems: got 0",
    ],
    ['one without a place for names', { ...three, networkPolicy: { dns: null } }, "missing property 'dns'"],
    [
      'more servers for each entry than NATS takes',
      { cluster: { ...three.cluster, replicas: 6 } },
      "'/cluster/replicas': maximum: got 6, want 5",
    ],
    ['an audit that is a word', { cluster: { ...three.cluster, audit: 'off' } }, "'/cluster/audit': got string, want object"],
    ['a policy in words', { image: { pullPolicy: 'Sometimes' } }, "'/image/pullPolicy': value must be one of"],
  ])('refuses %s, and says where', { tags: ['P-545'] }, async (_name, values, said) => {
    await expect(renderChart(folder, values as JsonObject)).rejects.toThrow(said);
  });

  it('has a budget for disruptions and a cluster only where there is more than one hub', async () => {
    expect((await rendered(alone)).map(({ kind }) => kind).sort()).toEqual(
      ['ConfigMap', 'NetworkPolicy', 'Service', 'Service', 'ServiceAccount', 'StatefulSet'].sort(),
    );
    const documents = await rendered(everything);
    expect(ofKind(documents, 'PodDisruptionBudget')).toMatchObject([{ spec: { maxUnavailable: '25%' } }]);
    expect(ofKind(documents, 'StatefulSet')).toMatchObject([{ spec: { replicas: 5, podManagementPolicy: 'Parallel' } }]);
    expect(specOf(await rendered(scaled), 'StatefulSet').replicas).toBeUndefined();
  });

  it('lets hubs reach NATS, one another and names, what is configured, and nothing else', { tags: ['P-546'] }, async () => {
    const egressOf = async (values: JsonObject): Promise<JsonObject[]> =>
      specOf(await rendered(values), 'NetworkPolicy').egress as JsonObject[];
    const names = {
      ports: [
        { protocol: 'UDP', port: 53 },
        { protocol: 'TCP', port: 53 },
      ],
    };
    const nats = { to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'nats' } } }], ports: [{ protocol: 'TCP', port: 4222 }] };
    const hubs = {
      to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/instance': 'hubs' } } }],
      ports: [{ protocol: 'TCP', port: 8765 }],
    };
    expect(await egressOf(alone)).toMatchObject([names]);
    expect(await egressOf(three)).toMatchObject([names, nats, hubs]);
    expect(await egressOf(everything)).toMatchObject([names, nats, hubs, { to: [{ ipBlock: { cidr: '203.0.113.0/24' } }] }]);
  });

  it('has the Kubernetes cluster wait for as long as a hub may take to drain', async () => {
    const [spec] = podsOf(await rendered(everything));
    expect(spec).toMatchObject({
      terminationGracePeriodSeconds: 140,
      containers: [{ lifecycle: { preStop: { exec: { command: ['sleep', '10'] } } } }],
    });
  });

  it.each(valueSets)('a chart with %s writes a config that a hub takes', async (_name, values) => {
    const [map] = ofKind(await rendered(values), 'ConfigMap');
    const { 'mcp.json': text = '' } = (map?.data ?? {}) as Record<string, string>;
    const written = JSON.parse(text) as { notebridge: { cluster?: JsonObject } };
    if ('cluster' in values)
      expect(written.notebridge.cluster).toMatchObject({ url: (values.cluster as JsonObject).urls, hubName: '${HUB_NAME}' });
    else expect(written.notebridge).not.toHaveProperty('cluster');
    const file = join(folder, 'mcp.json');
    writeFileSync(file, inFolder(JSON.stringify(written)));
    mkdirSync(join(folder, 'etc/notebridge-cluster'), { recursive: true });
    for (const name of ['key', 'nats.creds', 'ca.crt', 'tls.crt', 'tls.key'])
      writeFileSync(join(folder, 'etc/notebridge-cluster', name), 'x'.repeat(64), { mode: 0o440 });
    const { cluster } = await loadConfig({ file, env: { KEY: 'k', HUB_NAME: 'hubs-notebridge-0' } });
    if (cluster !== undefined) {
      expect(cluster.drainMs).toBe('drain' in values ? 120_000 : 20_000);
      expect(cluster.replicas).toBe(values === everything ? 5 : undefined);
      const audit = values === everything ? { maxDays: 7, maxBytes: 20_000_000_000 } : defaultClusterAudit;
      expect(cluster.audit).toEqual(values === scaled ? false : audit);
    }
    expect(cluster?.hubName).toBe('cluster' in values ? 'hubs-notebridge-0' : undefined);
  });

  it('starts a hub that answers the probes under the name that they ask for', { tags: ['P-547'] }, async () => {
    const [spec] = podsOf(await rendered(alone));
    const [hub] = (spec?.containers ?? []) as (Container & Record<'readinessProbe' | 'livenessProbe' | 'startupProbe', Probe>)[];
    const { home, env } = createHome();
    mkdirSync(join(home, 'etc/notebridge'), { recursive: true });
    writeFileSync(join(home, 'etc/notebridge/mcp.json'), JSON.stringify({ mcpServers: { everything: installedServer('everything') } }));
    const words = (hub?.args ?? []).map((word) => word.replace(/^\/etc\//, `${home}/etc/`));
    const program = new Program({ args: [...words, '--port', '0'], env });
    try {
      await program.until(() => program.stderr.includes('"msg":"Serving."'));
      const url = /"url":"(http[^"]+)"/.exec(program.stderr)?.[1] ?? '';
      for (const probe of [hub?.startupProbe, hub?.livenessProbe, hub?.readinessProbe]) {
        const [{ value: host = '' } = {}] = probe?.httpGet.httpHeaders ?? [];
        await expect.poll(() => statusOf(`${url}${probe?.httpGet.path}`, host)).toBe(200);
        expect(await statusOf(`${url}${probe?.httpGet.path}`, '10.0.0.7:8765')).toBe(403);
      }
    } finally {
      program.child.kill('SIGTERM');
      await program.close();
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('has a hub find its files as it left them when its volume is mounted again', { tags: ['P-599'] }, async () => {
    const [spec] = podsOf(await rendered(everything));
    const { fsGroupChangePolicy = 'Always' } = (spec?.securityContext ?? {}) as Partial<VolumeGroup>;
    const volume = join(folder, 'volume');
    const mount = (policy: VolumeGroup['fsGroupChangePolicy']): void =>
      mountAsKubelet(volume, { fsGroup: process.getgid?.() ?? 0, fsGroupChangePolicy: policy });
    mkdirSync(volume, { mode: 0o755 });
    mount(fsGroupChangePolicy);
    const options = { args: ['--notebook', 'none'], env: { XDG_STATE_HOME: volume } };
    await using first = await ServedHub.start(options);
    const { ownerToken } = first;
    await first.stop();
    mount(fsGroupChangePolicy);
    await using second = await ServedHub.start(options, first);
    expect(second.ownerToken).toBe(ownerToken);
    await second.stop();
    // What Kubernetes does unless it is told otherwise.
    mount('Always');
    await expect(ServedHub.start(options, first)).rejects.toThrow('is open to other users');
  });

  it("has a hub take the owner's token of a mounted Secret", { tags: ['P-547'] }, async () => {
    const [spec] = podsOf(await rendered({ ...alone, ownerToken: { secret: 'owner', key: 'token' } }));
    const [copies] = spec?.initContainers ?? [];
    await using before = await ServedHub.start({ args: ['--notebook', 'none'] });
    await before.stop();
    // As the kubelet mounts it: a link to a file that others may read.
    mkdirSync(join(before.home, 'mounted'));
    const token = createSecret('nbo_');
    writeFileSync(join(before.home, 'mounted/owner-token'), `${token}\n`, { mode: 0o644 });
    const script = (copies?.command?.[2] ?? '')
      .replaceAll('/var/lib/notebridge/', `${before.env.XDG_STATE_HOME}/`)
      .replaceAll('/run/owner-token/', `${before.home}/mounted/`);
    execFileSync('sh', ['-ec', script]);
    expect(statSync(join(before.stateDir, 'owner-token')).mode & 0o777).toBe(0o600);
    const hub = await ServedHub.start({ args: ['--notebook', 'none'] }, before);
    try {
      expect((await hub.request('/api/v1/hub', { token })).status).toBe(200);
    } finally {
      await hub.stop();
    }
  });
});

it('the values of the Helm chart are explained, and the schema knows each', async () => {
  const text = readFileSync(join(chartFolder, 'values.yaml'), 'utf8');
  const keys = [...text.matchAll(/^(\w+):/gm)].map(([, key]) => key);
  const { properties } = JSON.parse(readFileSync(join(chartFolder, 'values.schema.json'), 'utf8')) as { properties: JsonObject };
  expect(
    Object.keys(properties)
      .filter((key) => key !== 'global')
      .sort(),
  ).toEqual(keys.sort());
  const silent = text.split(/\n\n/).filter((block) => !block.trimStart().startsWith('#') && !/^\s*#/m.test(block));
  expect(silent).toEqual([]);
});

interface Probe {
  httpGet: { path: string; httpHeaders?: { name: string; value: string }[] };
}

/** By hand: `fetch` sends no Host of ours. */
async function statusOf(url: string, host: string): Promise<number> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { host }, agent: false }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.once('error', reject).end();
  });
}

const inFolder = (text: string): string => text.replaceAll('/etc/notebridge-cluster/', `${folder}/etc/notebridge-cluster/`);
