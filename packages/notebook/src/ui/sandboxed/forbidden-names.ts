/**
 * Elements that would make another realm, in which nothing of ours is in force, or that name an address for more than to show what is there.
 * Nothing here calls a method once outputs run: they could have replaced it.
 */
const forbidden: { readonly [name: string]: true | undefined } = table(
  'iframe frame frameset object embed fencedframe portal link meta base'.split(' '),
);
const small: { readonly [letter: string]: string | undefined } = letters();
const longest = 12;

/** With any prefix, as XML knows them. */
export function isForbiddenName(name: string): boolean {
  let local = '';
  for (let at = 0; at < name.length; at++) {
    const char = name[at] as string;
    local = char === ':' ? '' : local.length > longest ? local : local + (small[char] ?? char);
  }
  return forbidden[local] === true;
}

/** Markup in which none of these elements begins. What an XML document may declare to stand for markup is gone as well. */
export function withoutForbiddenTags(markup: string): string {
  let written = '';
  let from = 0;
  for (let at = 0; at < markup.length; at++) {
    if (markup[at] !== '<') continue;
    let name = '';
    for (let next = at + 1; next < markup.length && !endsName(markup[next] as string); next++) name += markup[next];
    if (!isForbiddenName(name) && !isEntity(name)) continue;
    for (; from <= at; from++) written += markup[from];
    written += 'x-';
  }
  if (from === 0) return markup;
  for (; from < markup.length; from++) written += markup[from];
  return written;
}

function endsName(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\f' || char === '\r' || char === '/' || char === '>' || char === '<';
}

function isEntity(name: string): boolean {
  return name === '!ENTITY';
}

function table(names: readonly string[]): { [name: string]: true } {
  const made = Object.create(null) as { [name: string]: true };
  for (const name of names) made[name] = true;
  return made;
}

function letters(): { [letter: string]: string } {
  const made = Object.create(null) as { [letter: string]: string };
  for (const letter of 'abcdefghijklmnopqrstuvwxyz') made[letter.toUpperCase()] = letter;
  return made;
}
