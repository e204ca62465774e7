import { execFile } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '@notebridge/kit/json';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';

export const deployFolder = fileURLToPath(new URL('../../../../deploy', import.meta.url));

/** Validators that bring their schemas along: the Compose specification's, and those of the Kubernetes API. */
const packages = ['check-jsonschema', 'kubernetes-validate', 'PyYAML'];
export const installTimeoutMs = 5 * 60_000;

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string }[];
  securityContext?: JsonObject;
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
}

/** Installs the validators, if they are not there yet: for a `beforeAll`. */
export function prepareValidators(): Promise<string> {
  return pythonWith(packages, { environment: 'agents' });
}

/** Runs a validator of the environment; what it says, and its exit code. */
export async function validate(program: string, ...args: string[]): Promise<{ code: number; output: string }> {
  const file = join(dirname(await prepareValidators()), program);
  return promisify(execFile)(file, args, { cwd: deployFolder, timeout: 120_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code ?? 1), output: `${stdout}${stderr}` }),
  );
}

/** The documents of a YAML file, as a cluster reads them. */
export async function documentsOf(file: string): Promise<JsonObject[]> {
  const program = 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1], encoding="utf-8")))))';
  return JSON.parse(await runPython(await prepareValidators(), ['-c', program, resolve(deployFolder, file)])) as JsonObject[];
}

/** The pods of the documents, whatever makes them. */
export function podsOf(documents: readonly JsonObject[]): PodSpec[] {
  const specs = documents.map(({ kind, spec }) => {
    if (kind === 'Pod') return spec;
    return kind === 'Deployment' || kind === 'StatefulSet' ? ((spec as JsonObject).template as JsonObject).spec : undefined;
  });
  return specs.filter((spec) => spec !== undefined) as unknown as PodSpec[];
}

export type PodSpec = JsonObject & { containers: Container[]; initContainers?: Container[] };

export function containersOf({ initContainers = [], containers }: PodSpec): Container[] {
  return [...initContainers, ...containers];
}
