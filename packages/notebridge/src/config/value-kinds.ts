import { isNatsUrl } from '@notebridge/cluster/cluster-settings';
import * as z from 'zod';

/* The kinds of values that a config has. The error text of each says what is wanted. */

/** The longest time a timer of Node can wait, about 24 days. */
export const longestMs = 2_147_483_647;
/** The longest string that V8 can hold, and so the largest message. */
export const longestString = 536_870_888;

export const anyText = z.string({ error: 'a text in double quotes' });
export const filled = z.string({ error: 'a text in double quotes, not empty' }).min(1, { error: 'a text in double quotes, not empty' });
export const flag = z.boolean({ error: 'true or false' });
export const texts = z.array(anyText, { error: 'a list of texts' });
export const textsByName = z.record(z.string(), anyText, { error: 'an object of texts' });

export function oneOfNames<const Names extends readonly [string, ...string[]]>(
  ...names: Names
): z.ZodEnum<{ [Name in Names[number]]: Name }> {
  return z.enum(names, { error: `one of ${names.map((name) => `"${name}"`).join(', ')}` });
}

export function wholeNumber(unit: string, least: number, most: number): z.ZodNumber {
  const error = `a whole number of ${unit}, ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

/** An object with these keys and no others. `wanted`: what is said of anything else; of a key that it does not have, which ones it has. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape, wanted: string) {
  const known = Object.keys(shape).join(keySeparator);
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? known : wanted) });
}

/** Between the keys that an error names. */
export const keySeparator = ', ';

/** A shell would put the home folder for `~`; we would make a folder of that name of it. */
export function folderPath(): z.ZodString {
  const error = 'the path of a folder, in double quotes; for your home folder write "${HOME}"';
  return z
    .string({ error })
    .min(1, { error })
    .regex(/^(?!~)/, { error });
}

export function httpUrl(): z.ZodString {
  const error = 'a URL that begins with "http://" or "https://"';
  return z.string({ error }).refine(isHttpUrl, { error });
}

/** A document about us must be nobody else's to change on its way. */
export function secureUrl(): z.ZodString {
  const error = 'a URL that begins with "https://" and has a path';
  return z.string({ error }).refine((value) => URL.canParse(value) && /^https:\/\/[^/]+\/./.test(value), { error });
}

/** What is fetched there, or named so, decides who gets in. */
export function trustedUrl(): z.ZodString {
  const error = 'a URL that begins with "https://"; "http://" is accepted for 127.0.0.1 and localhost';
  return z.string({ error }).refine((value) => isHttpUrl(value) && /^https:|^http:\/\/(127\.0\.0\.1|localhost)[:/]/.test(value), { error });
}

export function natsUrl(): z.ZodString {
  const error =
    'an address of NATS like "nats://host:4222", "tls://host:4222" or "host:4222" (in a password, "%", "#", "?" and "/" as "%25", "%23", "%3F" and "%2F")';
  return z.string({ error }).refine(isNatsUrl, { error });
}

export function clusterNameError(): string {
  return 'a name of letters, digits, "-" and "_"';
}

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}
