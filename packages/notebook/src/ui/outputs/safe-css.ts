/**
 * CSS of outputs. It may colour and align what stands in the output, and nothing else. All of it is read here before a browser does:
 * its length, the depth of its brackets and the number of its rules are bounded, so that none can keep a browser's parser busy.
 */

const maxSheet = 300_000;
const maxRules = 4000;
const maxSelectors = 10_000;
/** Selectors that a browser has to try on every element, or on all that stand beside one. */
const maxDearSelectors = 20;
const maxSelector = 200;
const maxDeclarations = 4000;
const maxValue = 300;

/** What may be set, by its name as it is written. */
const properties = new RegExp(
  `^(?:${[
    'color|background(?:-(?:color|image|position|size|repeat|clip|origin))?|opacity|visibility',
    'border(?:-(?:top|right|bottom|left|inline|block|collapse|spacing|radius|color|style|width|image))*|border-(?:top|bottom)-(?:left|right)-radius',
    'outline(?:-(?:color|style|width|offset))?',
    '(?:margin|padding)(?:-(?:top|right|bottom|left|inline|block))?(?:-(?:start|end))?',
    '(?:min-|max-)?(?:width|height)|box-sizing|float|clear|overflow(?:-[xy])?|text-overflow|display|empty-cells|table-layout|caption-side',
    'font(?:-(?:family|size|style|weight|variant|stretch|variant-numeric))?|line-height|letter-spacing|word-spacing',
    'text-(?:align|decoration(?:-(?:color|line|style))?|indent|transform|anchor)|white-space|word-break|word-wrap|overflow-wrap|hyphens|tab-size',
    'vertical-align|list-style(?:-(?:type|position))?|direction|unicode-bidi|text-rendering',
    'fill(?:-(?:opacity|rule))?|stroke(?:-(?:width|opacity|linecap|linejoin|miterlimit|dasharray|dashoffset))?|stop-(?:color|opacity)',
    'clip-rule|paint-order|(?:shape|image|color)-rendering|(?:dominant|alignment)-baseline|vector-effect|mix-blend-mode',
  ].join('|')})$`,
);
/** What only drawings need; it may name another part of the same drawing. */
const references = /^(?:clip-path|mask|filter|marker(?:-(?:start|mid|end))?|fill|stroke)$/;
const ownPart = /^url\(\s*["']?#([\w.:-]+)["']?\s*\)$/;

/** Of `display`, what lays out in one pass: a nest of flexible boxes takes a time that doubles with each of them. */
const displays =
  /^(?:block|inline|inline-block|none|list-item|table|inline-table|table-(?:row|cell|column|caption|row-group|header-group|footer-group|column-group))$/;
const functions =
  /^(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix|calc|min|max|clamp|var|(?:repeating-)?(?:linear|radial|conic)-gradient)$/;

const pseudo =
  ':(?:hover|first-child|last-child|only-child|first-of-type|last-of-type|only-of-type|empty|nth-(?:child|of-type)\\((?:even|odd|[-+n\\d ]{1,9})\\)|not\\([.#]?[\\w-]+\\))';
const part = `(?=[\\w*.#:\\[])(?:[a-zA-Z][\\w-]*|\\*)?(?:[.#][\\w-]+|${pseudo}|\\[[\\w-]+(?:[~|^$*]?=(?:[\\w-]+|"[\\w ./-]*"))?\\])*`;
const selector = new RegExp(`^${part}(?:(?: ?[>+~] ?| )${part}){0,5}$`);
/** Its last part names no element, class or id. */
const triesAll = /(?:^|[ >+~])(?:\*|:|\[)[^ >+~.#]*$/;

/** The declarations of a style attribute that are harmless, written anew; empty if none is. */
export function safeDeclarations(css: string, { isDrawing = false } = {}): string {
  if (css.length > maxDeclarations || /[{}\\<>@]|\/\*/.test(css)) return '';
  const safe: string[] = [];
  for (const declaration of css.split(';')) {
    const colon = declaration.indexOf(':');
    const name = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase();
    const value = declaration
      .slice(colon + 1)
      .replace(/!\s*important\s*$/i, '')
      .trim();
    if (isSafeDeclaration(name, value, isDrawing)) safe.push(`${name}: ${value}`);
  }
  return safe.join('; ');
}

function isSafeDeclaration(name: string, value: string, isDrawing: boolean): boolean {
  if (value === '' || value.length > maxValue) return false;
  if (isDrawing && references.test(name) && ownPart.test(value)) return true;
  if (!properties.test(name) || (name === 'display' && !displays.test(value.toLowerCase()))) return false;
  return isSafeValue(value);
}

/** No address, no number out of all proportion, no deep nest, and no function that is not known to be harmless. */
function isSafeValue(value: string): boolean {
  if (/\d{5}|\de[+\d]/i.test(value.replace(/#[0-9a-f]{3,8}\b|\.\d+/gi, ''))) return false;
  let depth = 0;
  for (const [bracket, name] of value.matchAll(/([\w-]*)\(|\)/g)) {
    depth += bracket === ')' ? -1 : 1;
    if (depth < 0 || depth > 4 || (name !== undefined && name !== '' && !functions.test(name.toLowerCase()))) return false;
  }
  return depth === 0 && (value.match(/"/g)?.length ?? 0) % 2 === 0 && (value.match(/'/g)?.length ?? 0) % 2 === 0;
}

/** The part of the same drawing that a value names. */
export function referenceIn(value: string): string | undefined {
  return ownPart.exec(value.trim())?.[1];
}

/** A style sheet, such as pandas' Styler makes: plain rules with plain selectors. Whatever else there is in it is left out. */
export function safeSheet(css: string): string {
  const rules: string[] = [];
  let selectors = 0;
  let dear = 0;
  for (const { prelude, body } of plainRules(withoutComments(css.slice(0, maxSheet)))) {
    if (rules.length >= maxRules) break;
    const safe = prelude
      .split(',')
      .map((text) => text.trim().replace(/\s+/g, ' '))
      .filter((text) => text.length <= maxSelector && selector.test(text) && (!isDear(text) || dear++ < maxDearSelectors));
    selectors += safe.length;
    if (selectors > maxSelectors) break;
    const declarations = safeDeclarations(body);
    if (safe.length > 0 && declarations) rules.push(`${safe.join(', ')} { ${declarations} }`);
  }
  return rules.join('\n');
}

function isDear(text: string): boolean {
  return text.includes('~') || text.includes(':not') || triesAll.test(text);
}

function withoutComments(css: string): string {
  const pieces: string[] = [];
  for (let at = 0; at < css.length; ) {
    const start = css.indexOf('/*', at);
    pieces.push(css.slice(at, start === -1 ? undefined : start));
    if (start === -1) break;
    const end = css.indexOf('*/', start + 2);
    at = end === -1 ? css.length : end + 2;
  }
  return pieces.join(' ');
}

/** The rules at the top that hold declarations and no rules; what begins with "@" is passed over with all that it holds. */
function* plainRules(css: string): Generator<{ prelude: string; body: string }> {
  let start = 0;
  let open = 0;
  let depth = 0;
  let isNested = false;
  for (let at = 0; at < css.length; at++) {
    const char = css[at];
    if (char === '"' || char === "'") at = endOfString(css, at, char);
    else if (char === ';' && depth === 0) start = at + 1;
    else if (char === '{') {
      if (depth++ === 0) open = at;
      else isNested = true;
    } else if (char === '}' && depth > 0 && --depth === 0) {
      const prelude = css.slice(start, open).trim();
      if (!isNested && !prelude.startsWith('@')) yield { prelude, body: css.slice(open + 1, at) };
      isNested = false;
      start = at + 1;
    }
  }
}

/** A string ends at its line's end at the latest. */
function endOfString(css: string, from: number, quote: string): number {
  for (let at = from + 1; at < css.length; at++) {
    if (css[at] === '\\') at++;
    else if (css[at] === quote || css[at] === '\n') return at;
  }
  return css.length;
}
