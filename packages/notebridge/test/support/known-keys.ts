import type { z } from 'zod';
import { configSchema } from '../../src/config/schema.js';
import { keySeparator } from '../../src/config/value-kinds.js';

/** The keys that a config may have at a place, as the error says that stands there for any other. */
export function knownKeysAt(path: readonly (string | number)[]): string[] {
  const odd = path.reduceRight<unknown>((inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }), { '?': true });
  const found = all(configSchema.safeParse(odd).error?.issues ?? []).find(({ code }) => code === 'unrecognized_keys');
  if (found === undefined) throw new Error(`Nothing says which keys there are at ${path.join('.')}`);
  return found.message.split(keySeparator);
}

function all(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  return issues.flatMap((issue) => (issue.code === 'invalid_union' ? issue.errors.flatMap(all) : [issue]));
}
