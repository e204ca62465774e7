import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@notebridge/protocol/json';
import { parseAllDocuments } from 'yaml';

export const deployFolder = fileURLToPath(new URL('../../../../deploy', import.meta.url));

export const monitoringFolder = join(deployFolder, 'chart/monitoring');

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string }[];
  securityContext?: JsonObject;
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[];
}

/** The documents of a manifest, read without a Python. Kubernetes reads YAML 1.1. */
export function manifestsOf(file: string): JsonObject[] {
  const documents = parseAllDocuments(readFileSync(join(deployFolder, file), 'utf8'), { version: '1.1' });
  return [...documents].map((document) => document.toJS() as JsonObject);
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
