/** Names that generated modules take from elsewhere, and where from. */
const sources: Record<string, readonly string[]> = {
  builtins: ['NotImplementedError', 'bool', 'float', 'int', 'str'],
  typing: ['Any', 'Dict', 'List', 'Literal', 'Optional', 'Tuple', 'TypedDict', 'Union'],
  '..._function': ['OnProgress', 'UNSET', 'default', 'tool_function'],
  '..._typing': ['NotRequired'],
};
const sourceOf = new Map(Object.entries(sources).flatMap(([source, names]) => names.map((name) => [name, source] as const)));

/** The names at the top of one generated module: what it imports, and what it defines. None is given twice. */
export class ModuleNames {
  readonly #own: string;
  readonly #taken: Set<string>;
  readonly #imported = new Set<string>();

  /** @param own The function's name: it is kept, whatever it is called. */
  constructor(own: string) {
    this.#own = own;
    this.#taken = new Set([own, 'annotations', 'False', 'None', 'True', ...sourceOf.keys()]);
  }

  /** What to write for a name of another module; it is imported then. */
  use(name: string): string {
    this.#imported.add(name);
    return this.spelling(name);
  }

  /** How it is written, if it is used. */
  spelling(name: string): string {
    return name === this.#own ? `${name}_` : name;
  }

  /** A name of this module's own, like the wish. */
  define(wish: string): string {
    for (let number = 1; ; number++) {
      const name = number === 1 ? wish : `${wish}${number}`;
      if (this.#taken.has(name)) continue;
      this.#taken.add(name);
      return name;
    }
  }

  /** True for a name that means something here already. */
  isKnown(name: string): boolean {
    return this.#taken.has(name);
  }

  /** The lines that import what is used: of Python's own, then of the package's. */
  imports(): string {
    const groups: [own: string[], ours: string[]] = [[], []];
    for (const source of Object.keys(sources)) {
      const used = [...this.#imported].filter((name) => sourceOf.get(name) === source).sort();
      // What is built in needs no import, unless the function took its name.
      const named = used.filter((name) => source !== 'builtins' || this.spelling(name) !== name);
      const items = named.map((name) => (this.spelling(name) === name ? name : `${name} as ${this.spelling(name)}`));
      if (items.length > 0) groups[source.startsWith('.') ? 1 : 0].push(`from ${source} import ${items.join(', ')}`);
    }
    return groups.map((lines) => lines.join('\n')).join('\n\n');
  }
}
