import { didYouMean } from '@notebridge/kit/did-you-mean';

/**
 * What an `import` of code becomes: `names` are those that it takes, of which `wanted` are used as values (a type is imported like one).
 * Rejects for a name that the module does not have.
 */
export async function importModule(specifier: string, names: readonly string[] = [], wanted: readonly string[] = []): Promise<object> {
  const module: { [name: string]: unknown } = await import(specifier);
  for (const name of names) {
    if (name in module || !wanted.includes(name)) continue;
    const known = Object.keys(module);
    const meant = didYouMean(name, known);
    const list = known.length <= 20 ? ` It has ${known.join(', ')}.` : '';
    throw new SyntaxError(`"${specifier}" has no "${name}".${meant === undefined ? list : ` Did you mean "${meant}"?`}`);
  }
  return module;
}
