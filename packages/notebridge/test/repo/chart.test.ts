// @module-tag deep
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultClusterAudit } from '@notebridge/cluster/cluster-settings';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.js';
import { createSecret } from '../../src/identity/secret.js';
import { chartFolder, helm, renderChart, runHelm } from '../support/chart.js';
import { alone, everything, scaled, three, valueSets } from '../support/chart-value-sets.js';
import { documentsOf, installTimeoutMs, prepareValidators, validate } from '../support/deployment.js';
import { mountAsKubelet, type VolumeGroup } from '../support/kubelet-mount.js';
import { type Container, containersOf, podsOf } from '../support/manifests.js';
import { createHome, Program } from '../support/program.js';
import { installedServer, ServedHub } from '../support/served-hub.js';

if (helm.why !== undefined) process.stderr.write(`tests: the Helm chart is not rendered, since ${helm.why}\n`);

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
    { tags: ['P-544', 'P-722'] },
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
      // Resources of the Prometheus Operator are no part of Kubernetes, and have a test of their own.
      const ofKubernetes = readFileSync(file, 'utf8')
        .split(/^---$/m)
        .filter((text) => !text.includes('\napiVersion: monitoring.coreos.com/v1\n'));
      writeFileSync(file, ofKubernetes.join('---'));
      const validated = await validate('kubernetes-validate', '--strict', file);
      expect(validated, validated.output).toMatchObject({ code: 0 });
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

  it('has Prometheus find each pod, with the token of the mounted Secret, and the alerts under their own addresses', {
    tags: ['P-717', 'P-718', 'P-719'],
  }, async () => {
    const documents = await rendered(everything);
    const [spec] = podsOf(documents);
    expect(spec?.volumes).toContainEqual({ name: 'scrape-tokens', secret: { secretName: 'scrape', defaultMode: 0o440 } });
    const [hub] = spec?.containers ?? [];
    expect(hub?.volumeMounts).toContainEqual({ name: 'scrape-tokens', mountPath: '/etc/notebridge-scrape', readOnly: true });
    const { template } = specOf(documents, 'StatefulSet') as { template: { metadata: { labels: JsonObject } } };
    expect(ofKind(documents, 'PodMonitor')).toMatchObject([
      {
        metadata: { labels: { release: 'prometheus' } },
        spec: {
          jobLabel: 'app.kubernetes.io/name',
          podMetricsEndpoints: [
            {
              port: 'http',
              path: '/metrics',
              interval: '15s',
              authorization: { type: 'Bearer', credentials: { name: 'scrape', key: 'prometheus' } },
            },
          ],
        },
      },
    ]);
    const { selector } = specOf(documents, 'PodMonitor') as { selector: { matchLabels: JsonObject } };
    expect(template.metadata.labels).toMatchObject({ ...selector.matchLabels, 'app.kubernetes.io/name': 'notebridge' });
    const { groups } = specOf(documents, 'PrometheusRule') as unknown as {
      groups: [{ rules: { alert: string; annotations: JsonObject }[] }];
    };
    for (const { alert, annotations } of groups[0].rules) expect(annotations.runbook_url).toBe(`https://wiki.example/alerts/${alert}.md`);
    expect(groups[0].rules.length).toBeGreaterThan(12);
    const [dashboard] = ofKind(documents, 'ConfigMap').filter(
      ({ metadata }) => (metadata as JsonObject).name === 'hubs-notebridge-dashboard',
    );
    expect(JSON.parse(String((dashboard?.data as JsonObject | undefined)?.['notebridge.json']))).toMatchObject({ uid: 'notebridge' });
    expect((await rendered(three)).map(({ kind }) => kind)).not.toContain('PodMonitor');
  });

  it('has the Ingress publish the paths of agents and code alone', { tags: ['P-721'] }, async () => {
    const documents = await rendered(everything);
    const { rules } = specOf(documents, 'Ingress') as unknown as {
      rules: { host: string; http: { paths: { path: string; pathType: string }[] } }[];
    };
    expect(rules.map(({ host, http }) => [host, http.paths.map(({ path, pathType }) => `${pathType} ${path}`)])).toEqual([
      ['hub.example', ['Prefix /mcp', 'Prefix /api/v1/mcp/proxy', 'Prefix /.well-known/oauth-protected-resource']],
    ]);
    expect(ofKind(documents, 'Service')).toMatchObject([{ spec: { type: 'ClusterIP' } }, { spec: { clusterIP: 'None' } }]);
  });

  it('has the Kubernetes cluster wait for as long as a hub may take to drain', async () => {
    const [spec] = podsOf(await rendered(everything));
    expect(spec).toMatchObject({
      terminationGracePeriodSeconds: 140,
      containers: [{ lifecycle: { preStop: { exec: { command: ['sleep', '10'] } } } }],
    });
  });

  it.each(valueSets)('a chart with %s writes a config that a hub takes', async (_name, values) => {
    const [map] = ofKind(await rendered(values), 'ConfigMap').filter(({ data }) => 'mcp.json' in (data as JsonObject));
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
      const given = values as { drain?: { seconds: number }; cluster: { replicas?: number; audit?: { enabled?: boolean } } };
      const { audit = defaultClusterAudit, replicas } = given.cluster;
      expect(cluster.drainMs).toBe((given.drain?.seconds ?? 20) * 1000);
      expect(cluster.replicas).toBe(replicas || undefined);
      expect(cluster.audit).toEqual(values === scaled ? false : audit);
    }
    expect(cluster?.hubName).toBe('cluster' in values ? 'hubs-notebridge-0' : undefined);
  });

  it('starts a hub that answers the probes under the name that they ask for, and scrapes at its own address', {
    tags: ['P-547', 'P-717'],
  }, async () => {
    const [spec] = podsOf(await rendered(alone));
    const [hub] = (spec?.containers ?? []) as (Container & Record<'readinessProbe' | 'livenessProbe' | 'startupProbe', Probe>)[];
    const { home, env } = createHome();
    mkdirSync(join(home, 'etc/notebridge'), { recursive: true });
    writeFileSync(join(home, 'etc/notebridge/mcp.json'), JSON.stringify({ mcpServers: { everything: installedServer('everything') } }));
    // As the kubelet does.
    const names: Record<string, string> = { POD_IP: '10.0.0.6', HUB_NAME: 'hubs-notebridge-0' };
    const words = (hub?.args ?? []).map((word) =>
      word.replace(/^\/etc\//, `${home}/etc/`).replaceAll(/\$\((\w+)\)/g, (_, name: string) => names[name] ?? ''),
    );
    const program = new Program({ args: [...words, '--port', '0'], env });
    try {
      await program.until(() => program.stderr.includes('"msg":"Serving."'));
      const url = /"url":"(http[^"]+)"/.exec(program.stderr)?.[1] ?? '';
      for (const probe of [hub?.startupProbe, hub?.livenessProbe, hub?.readinessProbe]) {
        const [{ value: host = '' } = {}] = probe?.httpGet.httpHeaders ?? [];
        await expect.poll(() => statusOf(`${url}${probe?.httpGet.path}`, host)).toBe(200);
        expect(await statusOf(`${url}${probe?.httpGet.path}`, '10.0.0.7:8765')).toBe(403);
      }
      const { port } = new URL(url);
      for (const own of ['10.0.0.6', 'hubs-notebridge-0.hubs-notebridge-hubs.tools.svc.cluster.local', 'hubs-notebridge-hubs.tools.svc'])
        expect(await statusOf(`${url}/healthz`, `${own}:${port}`), own).toBe(200);
      expect(await statusOf(`${url}/healthz`, `hubs-notebridge-1.hubs-notebridge-hubs.tools.svc:${port}`)).toBe(403);
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
