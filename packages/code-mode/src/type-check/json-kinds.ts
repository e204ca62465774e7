/** What a value becomes as JSON. */
type Kind = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object' | 'none';

const named: Readonly<Record<string, Kind>> = {
  str: 'string',
  int: 'number',
  float: 'number',
  bool: 'boolean',
  None: 'null',
  bytes: 'none',
  list: 'array',
  List: 'array',
  tuple: 'array',
  Tuple: 'array',
  dict: 'object',
  Dict: 'object',
  Mapping: 'object',
  Coroutine: 'none',
  CoroutineType: 'none',
};

/**
 * Whether a value of the one type, as a type checker prints them, can never be meant where the other is wanted. Types that are not known
 * through and through may fit, and so do values that only their content tells apart: a list of other things, a text for one of some texts,
 * 2.0 for a whole number, and `None`, which many servers take for "not given".
 */
export function isSurelyWrong(given: string, wanted: string): boolean {
  const kind = kindOf(given);
  const kinds = membersOf(wanted).map(kindOf);
  if (kind === undefined || kind === 'null' || kinds.length === 0 || kinds.includes(undefined)) return false;
  if (!kinds.includes(kind)) return true;
  // Of a text that is written out it is known which one it is.
  return /^Literal\['[^'\\]*'\]$/.test(given) && !membersOf(wanted).includes('str') && !/…/.test(given + wanted);
}

function kindOf(type: string): Kind | undefined {
  const literal = /^Literal\[(.*)\]$/s.exec(type)?.[1];
  if (literal !== undefined) return kindOfLiteral(literal);
  const [, name = '', , rest = ''] = /^(\w+)(\[(.*)\])?$/s.exec(type) ?? [];
  // `list[int] | dict[…]` begins and ends like one type, too.
  if (membersOf(type).length !== 1 || (rest !== '' && !isClosed(rest))) return undefined;
  return Object.hasOwn(named, name) ? named[name] : undefined;
}

function kindOfLiteral(text: string): Kind | undefined {
  const kinds = new Set(partsOf(text, ',').map((part) => kindOfValue(part.trim())));
  const [kind] = kinds;
  return kinds.size === 1 ? kind : undefined;
}

function kindOfValue(text: string): Kind | undefined {
  if (/^['"]/.test(text)) return 'string';
  if (/^b['"]/.test(text)) return 'none';
  if (/^-?\d+$/.test(text)) return 'number';
  return text === 'True' || text === 'False' ? 'boolean' : text === 'None' ? 'null' : undefined;
}

function membersOf(type: string): string[] {
  return partsOf(type, '|').map((part) => part.trim());
}

/** Splits at a sign that stands in no brackets and no quotes. */
function partsOf(text: string, sign: string): string[] {
  const parts = [''];
  let depth = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === '\\') {
        parts.push((parts.pop() ?? '') + char + (text[++at] ?? ''));
        continue;
      }
      if (char === quote) quote = '';
    } else if (char === "'" || char === '"') quote = char;
    else if (char === '[' || char === '(') depth++;
    else if (char === ']' || char === ')') depth--;
    if (char === sign && depth === 0 && quote === '') parts.push('');
    else parts.push((parts.pop() ?? '') + char);
  }
  return parts;
}

function isClosed(text: string): boolean {
  let depth = 0;
  for (const char of text) {
    depth += char === '[' ? 1 : char === ']' ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth === 0;
}
