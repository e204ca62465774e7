// @module-tag P-124

import type { JsonObject } from '@notebridge/protocol/json';
import { describe, expect, it } from 'vitest';
import { containersOf, manifestsOf, podsOf } from '../support/manifests.js';

const pods = ['kubernetes/one-pod.yaml', 'kubernetes/two-pods.yaml'];

describe('the manifests of deploy/', () => {
  it.each(pods)('no container of %s is root, may become it, writes to its image or holds a token of the cluster', (file) => {
    const specs = podsOf(manifestsOf(file));
    expect(specs.length).toBeGreaterThan(0);
    for (const spec of specs) {
      expect(spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true, runAsUser: 1000 } });
      expect(spec).not.toMatchObject({ shareProcessNamespace: true });
      // The effect of this policy on a volume of the hub is tested in chart.test.ts.
      if (containersOf(spec).some(({ image }) => image === 'notebridge-hub'))
        expect(spec).toMatchObject({ securityContext: { fsGroupChangePolicy: 'OnRootMismatch' } });
      for (const container of containersOf(spec)) {
        const { securityContext } = container;
        expect(securityContext, container.name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it.each(pods)("the Jupyter of %s reads its grant and cannot write it, and sees nothing of the hub's state and config", (file) => {
    const containers = podsOf(manifestsOf(file)).flatMap(containersOf);
    const jupyter = containers.filter(({ name }) => name === 'jupyter');
    expect(jupyter).toHaveLength(1);
    const mounts = Object.fromEntries(jupyter.flatMap(({ volumeMounts }) => volumeMounts.map((mount) => [mount.name, mount])));
    expect(mounts.grant).toEqual({ name: 'grant', mountPath: '/run/notebridge', readOnly: true });
    for (const name of ['state', 'config', 'keys', 'service-account']) expect(mounts).not.toHaveProperty(name);
    expect(JSON.stringify(jupyter)).not.toMatch(/secret|--host/i);
  });

  it('two-pods.yaml lets Jupyter reach the port of the hub and no names, and the hub nothing', () => {
    const documents = manifestsOf('kubernetes/two-pods.yaml');
    const policies = documents.filter(({ kind }) => kind === 'NetworkPolicy');
    const specs = Object.fromEntries(policies.map(({ metadata, spec }) => [(metadata as JsonObject).name, spec as JsonObject]));
    const both = ['Ingress', 'Egress'];
    const pod = (name: string) => ({ podSelector: { matchLabels: { 'app.kubernetes.io/name': name } } });
    const hubPort = [{ protocol: 'TCP', port: 8765 }];
    expect(specs.nothing).toEqual({ podSelector: {}, policyTypes: both });
    expect(specs.hub).toEqual({
      ...pod('notebridge-hub'),
      policyTypes: both,
      ingress: [{ from: [pod('notebridge-jupyter')], ports: hubPort }],
      egress: [],
    });
    expect(specs.jupyter).toEqual({
      ...pod('notebridge-jupyter'),
      policyTypes: both,
      ingress: [],
      egress: [{ to: [pod('notebridge-hub')], ports: hubPort }],
    });
    // So it finds the hub by the address that Kubernetes gives to pods which start after the Service is there, and the hub answers to that.
    const [hub, jupyter] = podsOf(documents);
    for (const spec of [hub, jupyter]) expect(spec).toMatchObject({ enableServiceLinks: true });
    expect(jupyter).toMatchObject({ dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.1'] } });
    const urls =
      jupyter === undefined ? [] : containersOf(jupyter).map(({ env = [] }) => env.find(({ name }) => name === 'NOTEBRIDGE_URL')?.value);
    expect(urls).toEqual(Array(3).fill('http://$(HUB_SERVICE_HOST):8765'));
    expect(hub?.containers[0]?.args?.join(' ')).toContain('--allow-host hub --allow-host $(HUB_SERVICE_HOST) ');
    const kinds = documents.map(({ kind }) => kind);
    expect(kinds.indexOf('Service')).toBeLessThan(kinds.indexOf('Deployment'));
  });
});
