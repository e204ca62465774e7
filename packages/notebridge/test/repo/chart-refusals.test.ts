// @module-tag deep
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { helm, renderChart } from '../support/chart.js';
import { alone, three } from '../support/chart-value-sets.js';

let folder: string;

describe.skipIf(helm.program === undefined)(`the Helm chart${helm.why === undefined ? '' : `: ${helm.why}`}`, { timeout: 180_000 }, () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-chart-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['three hubs without a cluster', {}, 'hubs: 3 of them need a cluster. Set cluster.urls'],
    ['a cluster without a key', { cluster: { urls: ['nats://nats:4222'] } }, 'cluster.key.secret: name the Secret'],
    [
      'a NATS without TLS',
      { cluster: { ...three.cluster, tls: { secret: '' } } },
      'cluster: who reads the wire to NATS would read arguments and results',
    ],
    [
      'hubs that NATS cannot tell from others',
      { cluster: { ...three.cluster, credentials: { secret: '' }, tls: { secret: '', clientCertificate: true } } },
      'Set cluster.tls.secret (or addresses that begin with tls://) and cluster.credentials.secret',
    ],
    ['a cluster in the config', { ...three, notebridge: { cluster: {} } }, 'notebridge.cluster is written by the chart'],
    ['an Ingress without a name', { ...three, ingress: { enabled: true } }, 'ingress.hosts: name at least one host'],
    ['an Ingress without TLS', { ...three, ingress: { enabled: true, hosts: ['hub.example'] } }, 'ingress.tlsSecret: name the Secret'],
    ['code beside the key of a cluster', { ...three, sandbox: 'auto' }, 'sandbox: with auto, code of agents that finds a way out'],
    ["code beside the owner's token", { ...alone, ownerToken: { secret: 'owner' }, sandbox: 'auto' }, 'or set codeMayTakeKeys to true'],
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
    [
      'a Service that brings out what is for the owner',
      { ...three, service: { type: 'LoadBalancer' } },
      "at '/service': additional properties 'type'",
    ],
    [
      "a path of the owner's in the Ingress",
      { ...three, ingress: { paths: ['/console'] } },
      "'/ingress/paths/0': value must be one of '/mcp'",
    ],
    ['a rule that lets servers call anything', { ...three, networkPolicy: { egress: [{ ports: [] }] } }, "missing property 'to'"],
    ['a part that is taken away', { ...three, drain: null }, "missing property 'drain'"],
    [
      'a PodMonitor without a token',
      { ...three, metrics: { enabled: true, podMonitor: { enabled: true } } },
      'metrics.podMonitor: there is nothing to scrape, or no token',
    ],
    ['an audit that is a word', { cluster: { ...three.cluster, audit: 'off' } }, "'/cluster/audit': got string, want object"],
    ['a policy in words', { image: { pullPolicy: 'Sometimes' } }, "'/image/pullPolicy': value must be one of"],
  ])('refuses %s, and says where', { tags: ['P-545', 'P-740'] }, async (_name, values, said) => {
    await expect(renderChart(folder, values as JsonObject)).rejects.toThrow(said);
  });

  it.each([
    ['addresses that begin with tls://', { urls: ['tls://nats:4222'], tls: { secret: '' } }],
    ['a certificate of the hubs', { credentials: { secret: '' }, tls: { secret: 'nats', clientCertificate: true } }],
  ])('takes %s for TLS, or for credentials', { tags: ['P-740'] }, async (_name, values) => {
    expect(readFileSync(await renderChart(folder, { cluster: { ...three.cluster, ...values } }), 'utf8')).toContain('kind: StatefulSet');
  });
});
