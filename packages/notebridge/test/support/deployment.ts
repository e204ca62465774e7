import { execFile } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '@notebridge/protocol/json';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';
import { deployFolder } from './manifests.js';

/** Validators that bring their schemas along: the Compose specification's, and those of the Kubernetes API. */
const packages = ['check-jsonschema', 'kubernetes-validate', 'PyYAML'];
export const installTimeoutMs = 5 * 60_000;

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
