import { redactedMark } from '../util/redactor.js';

/** Secrets that show by their form, wherever they stand in a text. Each pattern is linear in the length of the text. */
const forms: readonly [RegExp, string][] = [
  [
    /-----BEGIN ([A-Z ]{0,32}PRIVATE KEY)-----(?:[^-]|-(?!----))*-----END [A-Z ]{0,32}PRIVATE KEY-----/g,
    `-----BEGIN $1----- ${redactedMark}`,
  ],
  // Headers, as HTTP, curl, JSON and code write them.
  [
    /\b((?:proxy-)?authorization|x-api-key|api-key|x-auth-token|set-cookie|cookie)(\\?["']?\s{0,8}[:=]\s{0,8}\\?["']?)([^"'\\\r\n]{4,})/gi,
    `$1$2${redactedMark}`,
  ],
  [/\b(Bearer|Basic|Token)( +)(?=[^\s"',;]{0,64}\d)[\w.~+/=-]{8,}/gi, `$1$2${redactedMark}`],
  // Not inside a word: each would be looked through to its end.
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, redactedMark],
  // Keys whose issuers gave them a prefix so that they can be found.
  [
    /\b(?:gh[oprsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|A(?:KI|SI)A[0-9A-Z]{16}\b|AIza[\w-]{30,}|hf_\w{20,}|npm_\w{30,}|pypi-[\w-]{30,}|nbg_[\w-]{16,})/g,
    redactedMark,
  ],
  // Variables and members, as a shell, an env file and JSON inside a text write them.
  [
    /\b([A-Z][A-Z0-9_]{0,64}?(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)[A-Z0-9_]{0,64}(?:=|\\?"\s{0,4}:\s{0,4})(?:\\?["'])?)[^\s"'\\]{4,}/g,
    `$1${redactedMark}`,
  ],
  [
    /("(?:[\w-]{0,32}(?:api_?key|_token|-token|secret)|token|password|passwd|passphrase)\\?"\s{0,4}:\s{0,4}\\?")[^"\\\r\n]{4,}/gi,
    `$1${redactedMark}`,
  ],
  // URLs: passwords, and what is named like a key.
  [/(:\/\/[^\s/?#:@"']{0,256}):[^\s/?#@"']{1,1024}@/g, `$1:${redactedMark}@`],
  [
    /([?&#;](?:[\w.-]{0,64}?(?:token|secret|passw|api[_-]?key|access[_-]?key|signature|credential)[\w.-]{0,64}|key|sig|auth|pwd)=)[^&#;\s"'<>\\]+/gi,
    `$1${redactedMark}`,
  ],
];

/** Members whose text is a secret by their name. */
const secretNames =
  /^(?:(?:proxy[-_]?)?authorization|(?:set[-_]?)?cookie|(?:x[-_])?api[-_]?key|(?:access|refresh|id|auth|bearer|x[-_]auth|session)[-_]?token|token|client[-_]?secret|secret|secret[-_]?(?:access[-_]?)?key|private[-_]?key|password|passwd|passphrase|pwd)$/i;

/** Variables of an environment whose values are secrets by their name. */
const secretVariables = /TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|COOKIE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_KEY$|_PAT$|^KEY$|_AUTH$/i;

/** The text without secrets that show by their form. */
export function redactForms(text: string): string {
  let redacted = text;
  for (const [form, mark] of forms) redacted = redacted.replace(form, mark);
  return redacted;
}

export function isSecretName(name: string): boolean {
  return secretNames.test(name);
}

/** The values of an environment that are secrets by their names. */
export function secretsOfEnvironment(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => (value !== undefined && secretVariables.test(name) ? [value] : []));
}
