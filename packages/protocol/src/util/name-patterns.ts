/** Says of a name whether one of the patterns fits it: `*` stands for any text, `?` for one character. */
export function matchAny(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map(toExpression);
  return (name) => expressions.some((expression) => expression.test(name));
}

function toExpression(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'su');
}
