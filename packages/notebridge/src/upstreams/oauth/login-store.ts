import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { isJsonObject } from '@notebridge/protocol/json';
import { tryJson } from '@notebridge/protocol/util/try-json';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { withFileLock } from '@notebridge/system/files/file-lock';
import {
  ensurePrivateDir,
  type FileWatch,
  fileStamp,
  readPrivateFile,
  removePrivateFile,
  watchPrivateFile,
} from '@notebridge/system/files/private-file';
import { ownUserId } from '@notebridge/system/processes/own-user';

/** A login at one MCP server by one authorization server. */
export interface StoredLogin {
  /** The URL of the MCP server. */
  server: string;
  issuer: string;
  /** What was found out about both, as it was when the person logged in. */
  discovery: OAuthDiscoveryState;
  client: StoredOAuthClientInformation;
  /** Where the login came back to: registrations hold for one address. */
  redirectUrl?: string | undefined;
  tokens: StoredOAuthTokens;
  /** When the access token ends. Milliseconds since the epoch; undefined: nobody said. */
  expiresAt?: number | undefined;
  /** When a person logged in, however often it was renewed since. Milliseconds since the epoch; undefined: a machine did. */
  loggedInAt?: number | undefined;
}

const format = 1;
/** How soon a login in another process is noticed. Milliseconds. */
const watchMs = 500;

/** Of what cannot change without this process. */
export const noWatch: FileWatch = { hasChanged: () => false, stop: () => {} };

/** The login at one server: in memory, and in a private file that all processes of the user share. */
export class LoginStore {
  readonly #server: string;
  readonly #path: string | undefined;
  #known: StoredLogin | undefined;
  #stamp: string | undefined;

  /** `dir`: left out, the login lives as long as this object. */
  constructor(server: string, dir: string | undefined) {
    this.#server = new URL(server).href;
    this.#path = dir === undefined ? undefined : join(dir, `${hash('sha256', this.#server, 'hex')}.json`);
  }

  /** What is known now; a system call, no reading, while the file stays as it is. Throws `write_failed` for one that others could have written. */
  read(): StoredLogin | undefined {
    if (this.#path === undefined) return this.#known;
    const stamp = fileStamp(this.#path);
    if (stamp === this.#stamp) return this.#known;
    const login = parseLogin(readPrivateFile(this.#path, { uid: ownUserId() }) ?? '');
    this.#known = login?.server === this.#server ? login : undefined;
    this.#stamp = stamp;
    return this.#known;
  }

  /** Rejects with `write_failed`. */
  async save(login: Omit<StoredLogin, 'server'>): Promise<void> {
    const whole = { ...login, server: this.#server };
    if (this.#path === undefined) {
      this.#known = whole;
      return;
    }
    ensurePrivateDir(dirname(this.#path), { uid: ownUserId() });
    const text = `${JSON.stringify({ format, bound: bindingOf(whole), login: whole }, undefined, 2)}\n`;
    await writeFileAtomic(this.#path, text, { mode: 0o600, anew: true });
  }

  remove(): void {
    this.#known = undefined;
    if (this.#path !== undefined) removePrivateFile(this.#path);
  }

  /** Does the work while no other process of the user changes this login. */
  async locked<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#path === undefined) return work();
    ensurePrivateDir(dirname(this.#path), { uid: ownUserId() });
    return withFileLock(`${this.#path}.lock`, work, { timeoutMs: 60_000, isLong: true });
  }

  /**
   * Calls back when a person has logged in anew, or there is no login any more. Not when another process has renewed it: two that hear of
   * each other so, at a server that takes none of it, would renew it without end.
   */
  watch(onChange: () => void): FileWatch {
    if (this.#path === undefined) return noWatch;
    let before = loginTimeOf(this.#known);
    return watchPrivateFile(this.#path, { intervalMs: watchMs, stamp: this.#stamp ?? fileStamp(this.#path) }, () => {
      const now = loginTimeOf(this.#readIfPrivate());
      if (now === before) return;
      before = now;
      onChange();
    });
  }

  /** Undefined for a file that others could have written, too: who needs it is told by `read`. */
  #readIfPrivate(): StoredLogin | undefined {
    try {
      return this.read();
    } catch {
      return undefined;
    }
  }
}

/** Undefined: nobody is logged in. */
function loginTimeOf(login: StoredLogin | undefined): number | undefined {
  return login === undefined ? undefined : (login.loggedInAt ?? 0);
}

/** A token is of use at one server and one authorization server: a file that was moved or edited holds none. */
function bindingOf({ server, issuer }: Pick<StoredLogin, 'server' | 'issuer'>): string {
  return hash('sha256', `${server}\n${issuer}`, 'hex');
}

function parseLogin(text: string): StoredLogin | undefined {
  const found = tryJson(text);
  if (!isJsonObject(found) || found.format !== format || !isJsonObject(found.login)) return undefined;
  const login = found.login as unknown as StoredLogin;
  const { server, issuer, discovery, client, tokens } = login;
  if (typeof server !== 'string' || typeof issuer !== 'string' || found.bound !== bindingOf(login)) return undefined;
  if (!isJsonObject(discovery) || !isJsonObject(client) || !isJsonObject(tokens)) return undefined;
  return typeof client.client_id === 'string' && typeof tokens.access_token === 'string' ? login : undefined;
}
