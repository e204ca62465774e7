import { join } from 'node:path';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import type { FileWatch } from '@notebridge/system/files/private-file';
import type { RemoteServerConfig, ServerConfig } from '../../config/server-config.js';
import type { Fetch } from './guarded-fetch.js';
import { LoginStore, noWatch } from './login-store.js';
import { ServerTokens } from './server-tokens.js';

export interface LoginsOptions {
  /** The user's state folder. Left out: a login lives as long as the process. */
  stateDir?: string | undefined;
  redactor: Pick<Redactor, 'add'>;
  /** Shown to persons by authorization servers. */
  clientName: string;
  /** Options that `notebridge login` needs to find the same config. */
  commandOptions?: readonly string[] | undefined;
}

/** The logins at remote servers, as calls need them. */
export class Logins {
  readonly #options: LoginsOptions;
  readonly #stores = new Map<string, LoginStore>();

  constructor(options: LoginsOptions) {
    this.#options = options;
  }

  /** The tokens of a server; undefined for one that is told who we are by a header of its config. `fetch`: how its network is reached. */
  tokensOf(config: RemoteServerConfig, fetch: Fetch): ServerTokens | undefined {
    if (Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization')) return undefined;
    const { redactor, clientName, commandOptions = [] } = this.#options;
    return new ServerTokens({ config, store: this.#storeOf(config.url), redactor, clientName, commandOptions }, fetch);
  }

  /** Calls back when somebody logs in at that server, or out. */
  watch(config: ServerConfig, onChange: () => void): FileWatch {
    return config.transport === 'stdio' ? noWatch : this.#storeOf(config.url).watch(onChange);
  }

  #storeOf(url: string): LoginStore {
    const { stateDir } = this.#options;
    const store = this.#stores.get(url) ?? openLoginStore(url, stateDir);
    this.#stores.set(url, store);
    return store;
  }
}

/** Where the login at a server is kept. */
export function openLoginStore(url: string, stateDir: string | undefined): LoginStore {
  return new LoginStore(url, stateDir === undefined ? undefined : join(stateDir, 'logins'));
}
