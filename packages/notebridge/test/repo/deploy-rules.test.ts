import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { ownVersion } from '@notebridge/system/files/own-files';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { connectPath } from '../../src/doors/connect/connect-door.js';
import { consoleLinkRoute, ownerPrefix } from '../../src/doors/owner/owner-routes.js';
import { deployFolder } from '../support/manifests.js';

const read = (file: string): string => readFileSync(join(deployFolder, file), 'utf8');
const yaml = (file: string): JsonObject => parse(read(file), { merge: true }) as JsonObject;
interface Service {
  image: string;
  networks?: string[];
  ports?: string[];
  dns?: string[];
  network_mode?: string;
}
interface NatsValues {
  config: Record<'nats' | 'cluster', { tls: JsonObject }> & { merge: { authorization: { token: string } } };
  container: { env: Record<string, { valueFrom: { secretKeyRef: { name: string; key: string } } }> };
  extraResources: [
    { kind: string; spec: { ingress: { from: { podSelector: { matchLabels: JsonObject } }[]; ports: [{ port: number }] }[] } },
  ];
}

describe('deploy/', () => {
  it('publishes by the Ingress what is for agents and code, and nothing of the owner', { tags: ['P-721'] }, () => {
    const { ingress } = yaml('chart/values.yaml') as { ingress: { paths: string[] } };
    const schema = JSON.parse(read('chart/values.schema.json')) as {
      properties: { ingress: { properties: { paths: { items: { enum: string[] } } } }; service: { properties: JsonObject } };
    };
    const mayBe = schema.properties.ingress.properties.paths.items.enum;
    expect(mayBe).toEqual(expect.arrayContaining(ingress.paths));
    const ofOwner = [
      '/',
      '/console',
      '/console/enter',
      `${ownerPrefix}${consoleLinkRoute.path}`,
      ownerPrefix,
      `${ownerPrefix}/grants`,
      '/metrics',
      connectPath,
    ];
    const publishes = (path: string, asked: string): boolean => `${asked}/`.startsWith(`${path.replace(/\/$/, '')}/`);
    for (const path of mayBe)
      expect(
        ofOwner.filter((asked) => publishes(path, asked)),
        path,
      ).toEqual([]);
    expect(mayBe.some((path) => publishes(path, '/mcp'))).toBe(true);
    expect(read('chart/templates/ingress.yaml').match(/path: .*/g)).toEqual(['path: {{ . }}']);
    // No Service of another type brings out what the Ingress keeps in.
    expect(schema.properties.service.properties).not.toHaveProperty('type');
    expect(read('chart/templates/service.yaml').match(/^ {2}(type|clusterIP): .*$/gm)).toEqual(['  type: ClusterIP', '  clusterIP: None']);
  });

  it('has NATS ask for TLS and a token, and let in hubs alone', { tags: ['P-741'] }, () => {
    const { config, container, extraResources } = parse(read('chart/nats-values.yaml')) as NatsValues;
    for (const { tls } of [config.nats, config.cluster]) expect(tls).toEqual({ enabled: true, secretName: 'nats-tls' });
    const [, variable = ''] = /^<< \$(\w+) >>$/.exec(config.merge.authorization.token) ?? [];
    const { name, key } = container.env[variable]?.valueFrom.secretKeyRef ?? {};
    const [policy] = extraResources;
    const nats = { 'app.kubernetes.io/name': 'nats', 'app.kubernetes.io/component': 'nats' };
    expect(policy).toMatchObject({ kind: 'NetworkPolicy', spec: { podSelector: { matchLabels: nats }, policyTypes: ['Ingress'] } });
    const callers = policy?.spec.ingress.flatMap(({ from, ports: [{ port }] }) =>
      from.map(({ podSelector }) => [port, podSelector.matchLabels]),
    );
    expect(callers).toEqual([
      [4222, { 'app.kubernetes.io/name': 'notebridge' }],
      [4222, { ...nats, 'app.kubernetes.io/component': 'nats-box' }],
      [6222, nats],
    ]);
    // The guide makes these Secrets, and gives hubs the same token.
    const guide = readFileSync(join(deployFolder, '../docs/cluster.md'), 'utf8');
    expect(guide).toContain(`kubectl create secret generic ${name} --from-file=ca.crt=nats.crt --from-literal=${key}=`);
    expect(guide).toContain('kubectl create secret tls nats-tls ');
    expect(guide).toContain(`  tls: { secret: ${name} }`);
    expect(guide).toContain(`  credentials: { secret: ${name}, key: ${key} }`);
  });

  it('has the chart let in pods with a label of callers, and no others of the namespace', { tags: ['P-742'] }, () => {
    const { networkPolicy } = yaml('chart/values.yaml') as { networkPolicy: { callers: JsonObject[] } };
    const label = 'notebridge/caller';
    expect(networkPolicy.callers).toEqual([{ podSelector: { matchLabels: { [label]: 'true' } } }]);
    for (const page of ['cluster.md', 'operating.md'])
      expect(readFileSync(join(deployFolder, '../docs', page), 'utf8')).toContain(`${label}: "true"`);
  });

  it("allows a pod's own address and its names below the headless Service", { tags: ['P-717'] }, () => {
    expect(read('chart/templates/_helpers.tpl')).toContain('list $name (printf "%s-hubs" $name) (printf "$(HUB_NAME).%s-hubs" $name)');
    expect(read('chart/templates/_helpers.tpl')).toContain('list "$(POD_IP)"');
    expect(read('chart/templates/statefulset.yaml')).toMatch(/name: POD_IP\s+valueFrom:\s+fieldRef: \{ fieldPath: status\.podIP \}/);
  });

  it('leaves code in the Jupyter of compose.yaml no way out, and bounds each container', { tags: ['P-724'] }, () => {
    const { services, networks } = yaml('compose.yaml') as {
      services: Record<string, Service>;
      networks: Record<string, JsonObject | null>;
    };
    const isInternal = (name: string): boolean => networks[name]?.internal === true;
    expect(services.jupyter?.networks?.map(isInternal)).toEqual([true, true]);
    expect(services.jupyter).not.toHaveProperty('ports');
    expect(services.jupyter?.dns).toEqual(['192.0.2.1']);
    // The two others on its networks pass nothing on from there: the hub answers, and `front` dials Jupyter alone.
    const withJupyter = Object.entries(services).filter(([, { networks: own = [] }]) =>
      own.some((name) => services.jupyter?.networks?.includes(name)),
    );
    expect(withJupyter.map(([name]) => name).sort()).toEqual(['front', 'hub', 'jupyter']);
    expect(Object.values(services).flatMap(({ ports = [] }) => ports)).toEqual(['127.0.0.1:2300:2300']);
    for (const [name, service] of Object.entries(services))
      expect(service, name).toMatchObject({
        mem_limit: expect.stringMatching(/^\d+[mg]$/),
        pids_limit: expect.any(Number),
        cap_drop: ['ALL'],
      });
  });

  it('builds each image on what a build argument says, and names its version in the chart', { tags: ['P-725'] }, () => {
    const files = readdirSync(deployFolder).filter((name) => name.endsWith('.Dockerfile'));
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) {
      const text = read(file);
      const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
      const args = [...text.matchAll(/^ARG (\w+)=\S/gm)].map(([, name]) => `\${${name}}`);
      expect(
        bases.filter((base) => !args.includes(base ?? '')),
        file,
      ).toEqual([]);
    }
    const builds = Object.values((yaml('compose.yaml') as { services: Record<string, { build?: { args: JsonObject } }> }).services);
    expect(builds.flatMap(({ build }) => Object.values(build?.args ?? {}))).toEqual([
      '${NODE_IMAGE:-node:22-slim}',
      '${PYTHON_IMAGE:-python:3.12-slim}',
    ]);
    expect(yaml('chart/Chart.yaml').appVersion).toBe(ownVersion());
    expect((yaml('chart/values.yaml').image as JsonObject).tag).toBe('');
    expect(read('chart/values.yaml')).not.toMatch(/\blatest\b/);
  });
});
