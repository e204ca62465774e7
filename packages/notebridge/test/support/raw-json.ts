/*
 * JSON as text, without JSON.parse: what a bridge may change (white space, the way a string is escaped) is taken out, what it may
 * not (numbers, order, duplicates) stays as it was written. Independent of src, which it judges.
 */

const tokenPattern = /[-+.\deE]+|true|false|null|[{}[\],:]/y;

/** The members of the object that a text is, each value as its raw text; of equal keys the last. */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let depth = 0;
  let key: string | undefined;
  let start = 0;
  const take = (end: number): void => {
    if (key !== undefined) members.set(key, text.slice(start, end).trim());
    key = undefined;
  };
  for (const { token, at } of tokensOf(text)) {
    if (depth === 1 && token === ':') start = at + 1;
    if (depth === 1 && (token === ',' || token === '}')) take(at);
    else if (depth === 1 && key === undefined) key = JSON.parse(token) as string;
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
  }
  return members;
}

/** The items of the list that a text is, each as its raw text. */
export function itemsOf(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { token, at } of tokensOf(text)) {
    if (depth === 1 && (token === ',' || token === ']') && text.slice(start, at).trim() !== '') items.push(text.slice(start, at).trim());
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (depth === 1 && (token === '[' || token === ',')) start = at + 1;
  }
  return items;
}

/** The same text without white space, each string escaped as JSON.stringify does it. */
export function compact(text: string): string {
  return [...tokensOf(text)].map(({ token }) => (token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token)).join('');
}

/** The compact text with the members of every object sorted, and of equal keys the last: equal for equal JSON values. */
export function sorted(text: string): string {
  const tokens = [...tokensOf(text)].map(({ token }) => token);
  let at = 0;
  const read = (): string => {
    const token = tokens[at++] ?? '';
    if (token === '[') {
      const items: string[] = [];
      while (tokens[at] !== ']') {
        if (tokens[at] === ',') at++;
        items.push(read());
      }
      at++;
      return `[${items.join(',')}]`;
    }
    if (token !== '{') return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token;
    const members = new Map<string, string>();
    while (tokens[at] !== '}') {
      if (tokens[at] === ',') at++;
      const key = read();
      at++; // the colon
      members.set(key, read());
    }
    at++;
    const keys = [...members.keys()].sort();
    return `{${keys.map((key) => `${key}:${members.get(key)}`).join(',')}}`;
  };
  return read();
}

function* tokensOf(text: string): Generator<{ token: string; at: number }> {
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const token = text[at] === '"' ? text.slice(at, endOfString(text, at)) : tokenAt(text, at);
    yield { token, at };
    at += token.length;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** By hand: a regular expression runs out of stack in a string of megabytes. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  throw new Error(`A string without end at ${start}.`);
}

function tokenAt(text: string, at: number): string {
  tokenPattern.lastIndex = at;
  const [token] = tokenPattern.exec(text) ?? [];
  if (token === undefined) throw new Error(`Not JSON at ${at}: ${text.slice(at, at + 40)}`);
  return token;
}
