import type { ToolCommand } from '../messages.js';

type Package = Extract<ToolCommand, { type: 'toolPackage' }>['package'];
type Files = ReadonlyMap<string, string>;

/** Who has imported an older version loads the rest of it from there. */
const keptVersions = 4;
const missing = 'missing:';

/** The modules that code imports as `generated`, of the newest version and of those before. */
export class ToolModules {
  readonly #versions = new Map<string, Files>();
  #package: Package = { state: 'coming' };

  get isComing(): boolean {
    return this.#package.state === 'coming';
  }

  take(next: Package): void {
    this.#package = next;
    if (next.state !== 'there') return;
    const version = next.version.slice(0, 12);
    this.#versions.delete(version);
    this.#versions.set(version, new Map(next.files));
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > keptVersions && oldest !== undefined) this.#versions.delete(oldest);
  }

  /** `./generated/mcp/fs.js`, `generated/mcp/fs` and their like of code; `../client.js` of one module of another. */
  resolve(from: string, name: string): string {
    const [, version, path] = /^generated-([^/]*)\/(.*)$/.exec(from) ?? [];
    if (version !== undefined && path !== undefined && /^\.{1,2}\//.test(name))
      return `generated-${version}/${withEnding(relative(path, name))}`;
    const own = /^(?:\.?\/)?generated(?:\/(.*))?$/.exec(name);
    if (own === null) return `${missing}${name}`;
    const current = this.#package.state === 'there' ? this.#package.version.slice(0, 12) : '';
    return `generated-${current}/${withEnding(own[1] ?? '')}`;
  }

  /** Throws an error for the author of the code. */
  load(name: string): string {
    if (name.startsWith(missing))
      throw new Error(
        `There is no module ${JSON.stringify(name.slice(missing.length))}. Code imports only tools, from "./generated/mcp/SERVER.js" (describe_tools has the lines): files, networks and programs are reached by tools.`,
      );
    const [, version = '', path = ''] = /^generated-([^/]*)\/(.*)$/.exec(name) ?? [];
    const files = this.#versions.get(version);
    const text = files?.get(path);
    if (text !== undefined) return text;
    if (this.#package.state === 'none') throw new Error(`There is nothing to import: ${this.#package.reason}`);
    if (files === undefined) throw new Error('The functions of the tools are not there yet. Try again in a moment.');
    const servers = [...files.keys()].flatMap((file) => /^mcp\/(?!index)(.*)\.js$/.exec(file)?.[1] ?? []);
    throw new Error(`There is no module "generated/${path}". The servers are ${servers.slice(0, 50).join(', ') || 'none'}.`);
  }
}

function withEnding(path: string): string {
  const bare = path.replace(/\.(js|ts|mjs)$/, '').replace(/\/$/, '');
  if (bare === '' || bare === 'index') return 'index.js';
  return bare === 'mcp' ? 'mcp/index.js' : `${bare}.js`;
}

function relative(from: string, name: string): string {
  const parts = from.split('/').slice(0, -1);
  for (const part of name.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
