import { redactedMark } from '@notebridge/protocol/util/redactor';
import { isPlainWord, isSecretName, prefixedKeys } from '@notebridge/protocol/util/secrets';

/** A pattern, and the replacement of its matches: a text with `$1` and the like, or a function of the match and its groups. */
type Form = readonly [RegExp, string | ((whole: string, ...groups: string[]) => string)];

/** Secrets that show by their form, wherever they stand in a text. Each pattern is linear in the length of the text. */
const forms: readonly Form[] = [
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
  [prefixedKeys, redactedMark],
  // Members and settings with a text in quotes, as JSON and the languages of code write them, also inside a text.
  [
    /(?<![\w.-])([\w.-]{1,80})((?:\\*["']\]?)?\s{0,4}[:=]\s{0,4}\\*["'])([^"'\\\r\n]{4,})/g,
    (whole, name = '', sign = '') => (isSecretName(name, isVariable(name)) ? `${name}${sign}${redactedMark}` : whole),
  ],
  // The same in two members, as lists of variables have them.
  [
    /(?<=\b(?:name|key)\\{0,8}["']?\s{0,4}[:=]\s{0,4}\\{0,8}["'])([\w.-]{1,80})(\\*["']\s{0,8},\s{0,8}\\*["']?value\\*["']?\s{0,4}[:=]\s{0,4}\\*["'])([^"'\\\r\n]{4,})/g,
    (whole, name = '', between = '') => (isSecretName(name, true) ? `${name}${between}${redactedMark}` : whole),
  ],
  // Flags of a command line.
  [
    /(?<![\w-])--?([A-Za-z][\w.-]{0,79})((?:\\*["'],)?[ \t]{1,4}\\*["']?)([^\s"'\\,-][^\s"'\\,]{3,})/g,
    (whole, name = '', _between = '', value = '') => {
      const isMeant = isSecretName(name, true) && !isPlainWord(value);
      return isMeant ? whole.slice(0, -value.length) + redactedMark : whole;
    },
  ],
  [
    /([?&#;])([\w.-]{1,80})=([^\s"'\\&;<>#]+)/g,
    (whole, before = '', name = '') => (isSecretName(name, true) ? `${before}${name}=${redactedMark}` : whole),
  ],
  // Variables and settings, as a shell, an env file and YAML write them. A word is more often what is said of a member.
  [
    /(?<![\w.-])([\w.-]{1,80})(=\\?["']?|[ \t]{0,4}[:=][ \t]{1,4})([^\s"'\\&;<>()[\]{}]+)/g,
    (whole, name = '', sign = '', value = '') => {
      const isSet = sign.startsWith('=');
      const isLong = isSet ? value.length >= 4 : value.length >= 6 && !isPlainWord(value.replace(/[,.)]$/, ''));
      const isMeant = isLong && isSecretName(name, isSet);
      return isMeant ? `${name}${sign}${redactedMark}` : whole;
    },
  ],
  // URLs: passwords.
  [/(:\/\/[^\s/?#:@"']{0,256}):[^\s/?#@"']{1,1024}@/g, `$1:${redactedMark}@`],
];

/** The text without secrets that show by their form. */
export function redactForms(text: string): string {
  let redacted = text;
  for (const [form, mark] of forms) redacted = typeof mark === 'string' ? redacted.replace(form, mark) : redacted.replace(form, mark);
  return redacted;
}

function isVariable(name: string): boolean {
  return name === name.toUpperCase();
}
