/**
 * True if a JSON text has a number, outside its strings, that JavaScript may print back differently: a long one that it does print
 * differently, an exponent, a fraction that is tiny or ends in 0, minus zero. The text must be valid JSON. One pass over what is outside
 * strings; strings are jumped over, since the large ones (images, output) are one string each.
 */
export function hasOddNumber(text: string): boolean {
  return needsSlowPath(text, Number.POSITIVE_INFINITY);
}

/** True if it has an odd number, or is nested deeper than so many levels. */
export function needsSlowPath(text: string, maxDepth: number): boolean {
  const { length } = text;
  let depth = 0;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at + 1);
    else if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth) return true;
    } else if (code === openBrace + 2 || code === openBracket + 2) depth--;
    else if (code === minus || isDigit(code)) {
      const end = endOfNumber(text, at);
      if (isOdd(text, at, end)) return true;
      at = end - 1;
    }
  }
  return false;
}

const quote = 0x22;
const minus = 0x2d;
const backslash = 0x5c;
const zero = 0x30;
// Their partners follow two places behind.
const openBrace = 0x7b;
const openBracket = 0x5b;

function isDigit(code: number): boolean {
  return code >= zero && code <= 0x39;
}

function endOfNumber(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const code = text.charCodeAt(at);
    // Digits, and . + - e E
    if (isDigit(code) || code === 0x2e || code === 0x2b || code === minus || code === 0x65 || code === 0x45) continue;
    return at;
  }
}

function isOdd(text: string, start: number, end: number): boolean {
  const size = end - start;
  // The usual number: a few digits.
  if (size === 1) return false;
  const number = text.slice(start, end);
  // Fractions with all their digits are usual, and mostly what JavaScript prints too.
  if (size > 15) return String(Number(number)) !== number;
  return number === '-0' || /[eE]|\.\d*0$|^-?0\.000000/.test(number);
}

/** Where the string ends whose first character is at `from`. Short ones are walked, long ones are searched for their quote. */
function endOfString(text: string, from: number): number {
  let at = from;
  for (;;) {
    for (const near = at + 48; at < near; at++) {
      const code = text.charCodeAt(at);
      if (code === quote) return at;
      if (code === backslash) at++;
    }
    // Here `at` may stand behind an escape, never inside one, so the backslashes before a quote show whether it is escaped.
    const found = text.indexOf('"', at);
    let back = found;
    while (back > at && text.charCodeAt(back - 1) === backslash) back--;
    if ((found - back) % 2 === 0) return found;
    at = found + 1;
  }
}
