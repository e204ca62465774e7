import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { KernelInfo } from '../kernel/kernel.js';
import type { KernelSpec } from './kernel-sessions.js';

/** What is known of a kernel once it has answered. Its name may be another than it was: people choose one in Lab. */
export function learnInfo(
  known: KernelInfo,
  { answer, spec, kernelName = known.name }: { answer: JsonObject; spec: KernelSpec; kernelName: string | undefined },
): KernelInfo {
  const { name = known.language, version = '' } = isJsonObject(answer.language_info) ? answer.language_info : {};
  const displayName = kernelName === spec.name ? spec.displayName : kernelName;
  return { name: kernelName, displayName, language: String(name).toLowerCase(), version: String(version) };
}
