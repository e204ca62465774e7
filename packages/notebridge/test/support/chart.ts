import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '@notebridge/protocol/json';
import { findHelm } from '../../../../scripts/helm.mjs';
import { deployFolder } from './manifests.js';

export const chartFolder = join(deployFolder, 'chart');
/** Built only for who asks for it by name, since that takes minutes. */
export const helm = await findHelm({ mayBuild: process.env.NOTEBRIDGE_CHART === 'build' });
/** Helm that was built from source knows no version of Kubernetes by itself. */
const kubeVersion = '1.34.0';

/** Runs Helm; what it says, and its exit code. `home`: where it may write. */
export async function runHelm(home: string, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: process.env.PATH ?? '', HOME: home };
  return promisify(execFile)(helm.program ?? '', args, { env, timeout: 60_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code ?? 1), stdout, stderr }),
  );
}

/** The manifests of a release called `hubs`, as a file of `folder`. Rejects with what Helm says of the values. */
export async function renderChart(folder: string, values: JsonObject): Promise<string> {
  const file = join(folder, 'values.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(values));
  const place = ['--namespace', 'tools', '--kube-version', kubeVersion, '--values', file];
  const { code, stdout, stderr } = await runHelm(folder, 'template', 'hubs', chartFolder, ...place);
  if (code !== 0) throw new Error(stderr);
  const rendered = join(folder, 'rendered.yaml');
  writeFileSync(rendered, stdout);
  return rendered;
}
