import { isJsonObject } from '@notebridge/protocol/json';
import type { Environment } from '@notebridge/system/processes/environment';
import type { KeyPath, Problem } from './fault.js';

/**
 * Replaces `${VAR}`, `${env:VAR}` and `${VAR:-default}` in every string of a value; `$${` stands for a plain `${`. As in a shell,
 * the default also takes the place of an empty variable. What cannot be replaced stays as it is and is reported.
 */
export function expandStrings<Value>(value: Value, env: Environment): { value: Value; problems: Problem[] } {
  const problems: Problem[] = [];
  const walk = (part: unknown, path: KeyPath): unknown => {
    if (typeof part === 'string') return expandText(part, env, (words) => problems.push({ path, at: 'value', ...words }));
    if (Array.isArray(part)) return part.map((item, index) => walk(item, [...path, index]));
    if (!isJsonObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  return { value: walk(value, []) as Value, problems };
}

/** The variables that the strings of a value name, each with what stands in its place. */
export function variablesIn(value: unknown, env: Environment): Record<string, string> {
  const found: Record<string, string> = {};
  JSON.stringify(value, (_, part: unknown) => {
    if (typeof part === 'string')
      for (const [whole, dollar, inner = ''] of part.matchAll(reference)) {
        const name = dollar === '' ? variable.exec(inner)?.[1] : undefined;
        if (name !== undefined) found[name] = expandText(whole, env, () => {});
      }
    return part;
  });
  return found;
}

const reference = /(\$?)\$\{([^}]*)\}?/g;
const variable = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;

function expandText(text: string, env: Environment, report: (words: { found: string; next: string }) => void): string {
  return text.replace(reference, (whole, dollar: string, inner: string) => {
    if (dollar !== '') return whole.slice(1);
    const [, name, fallback] = (whole.endsWith('}') ? variable.exec(inner) : null) ?? [];
    if (name === undefined) {
      report({
        found: `has ${looksLikeName.test(whole) ? `"${whole}"` : 'a "${"'}, which names no variable`,
        next: 'Write "${NAME}", "${NAME:-default}" or "${env:NAME}"; "$${" for a plain "${".',
      });
      return whole;
    }
    const set = env[name];
    if (typeof set === 'string' && (set !== '' || fallback === undefined)) return set;
    if (fallback !== undefined) return fallback;
    report({ found: `needs the environment variable "${name}", which is not set`, next: `Set it, or write "\${${name}:-default}".` });
    return whole;
  });
}

/** Only this is quoted in errors: anything else may be part of a secret. */
const looksLikeName = /^\$\{[\w:. -]{0,40}\}$/;
