import type { ToolServer } from '../core/tool-server.js';
import { type NamingRules, ownersByPrefix } from './exposed-names.js';

/**
 * Which names of the one server with `names: "plain"` stand without its prefix. A name is refused that, and has the prefix, where
 * it would be that of a tool of the notebook, or could be that of another server's: whatever the tools of that are, so that the same
 * name means the same in whatever order servers start. Names are then never ambiguous, also to the guard.
 */
export class PlainNames {
  /** The server whose names have no prefix. Of several, which the config forbids: the first. */
  readonly server: ToolServer | undefined;
  readonly takenNames: ReadonlySet<string> | undefined;
  readonly #otherOf: (name: string) => string | undefined;

  constructor(servers: readonly ToolServer[], takenNames: ReadonlySet<string> | undefined) {
    this.server = servers.find(({ names, expose, status }) => names === 'plain' && expose === 'direct' && status !== 'disabled');
    this.takenNames = takenNames;
    this.#otherOf = ownersByPrefix(servers.filter((server) => server !== this.server).map(({ name }) => name));
  }

  get rules(): Pick<NamingRules, 'isPlain'> {
    const { server } = this;
    return server === undefined
      ? {}
      : { isPlain: (address) => address.server === server.name && this.whyRefused(address.tool) === undefined };
  }

  /** True for a name that a tool of the server has or could have: it is not known to be another's. */
  mayHave(name: string): boolean {
    return this.server !== undefined && this.whyRefused(name) === undefined;
  }

  /** Completes `the tool "x" …`; undefined for a name that may stand alone. */
  whyRefused(name: string): string | undefined {
    if (name === '') return 'has no name';
    if (this.takenNames?.has(name)) return 'is called like one of the notebook';
    const other = this.#otherOf(name);
    return other === undefined ? undefined : `is called like one of "${other}"`;
  }
}
