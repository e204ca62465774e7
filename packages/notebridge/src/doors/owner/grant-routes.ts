import type { JsonObject } from '@notebridge/kit/json';
import { BridgeError, codeOf } from '../../core/errors.js';
import type { ToolServers } from '../../core/tool-server.js';
import type { Admission } from '../../grants/admission.js';
import { parseAllowList } from '../../grants/allow-list.js';
import { describeGrant } from '../../grants/describe-grant.js';
import type { GrantTerms } from '../../grants/grant.js';
import type { GrantStore } from '../../grants/grant-store.js';
import type { HttpContext } from '../http/http-context.js';
import { readObject } from './read-object.js';

export interface GrantRoutesOptions {
  store: GrantStore;
  servers: ToolServers;
  admission: Pick<Admission, 'wouldAllow'>;
  maxBodyBytes: number;
}

/** Of a grant: what it may call. */
const scope = ['allow', 'read_only'];
const allTerms = [...scope, 'label', 'door', 'ttl_seconds', 'calls', 'per_minute', 'concurrent'];

/** The grants of the user, for their owner. */
export class GrantRoutes {
  readonly #options: GrantRoutesOptions;

  constructor(options: GrantRoutesOptions) {
    this.#options = options;
  }

  list(): JsonObject {
    const { store } = this.#options;
    return { grants: store.list().map(describeGrant), ...(store.isShared ? { in_cluster: true } : {}) };
  }

  /** Issues one. Its token is in this answer, and nowhere else. Rejects with `bad_params`, `limit_reached` or `write_failed`. */
  async issue(context: HttpContext): Promise<JsonObject> {
    const { store, maxBodyBytes } = this.#options;
    const asked = await readObject(context, maxBodyBytes, allTerms);
    const { token, ...grant } = await asParams(() => store.issue(toTerms(asked)));
    return { grant: describeGrant(grant), token };
  }

  /** What a grant with this scope could call of the tools that are known. Issues nothing, starts nothing. Rejects with `bad_params`. */
  async preview(context: HttpContext): Promise<JsonObject> {
    const { servers, admission, maxBodyBytes } = this.#options;
    const { allow = ['*:*'], read_only: readOnly = false } = await readObject(context, maxBodyBytes, scope);
    const allowList = await asParams(async () => parseAllowList(allow));
    const terms = { allowList, readOnly: readOnly !== false };
    const tools = servers
      .all()
      .flatMap(({ name: server, knownTools = [] }) =>
        knownTools.map((tool) => ({ server, tool: tool.name, allowed: admission.wouldAllow(terms, { server, tool: tool.name }, tool) })),
      );
    const unknown = servers.all().filter(({ knownTools }) => knownTools === undefined);
    return { tools, servers_not_asked: unknown.map(({ name }) => name) };
  }

  /** A new token, which is in this answer and nowhere else; the one before opens for a minute more. Rejects with `bad_params` if there is no such grant. */
  async renew(context: HttpContext): Promise<JsonObject> {
    const { store, maxBodyBytes } = this.#options;
    const { ttl_seconds: seconds } = await readObject(context, maxBodyBytes, ['ttl_seconds']);
    const [id = ''] = context.params;
    try {
      const { token, ...grant } = await asParams(() => store.renew(id, toTtlMs(seconds)));
      return { grant: describeGrant(grant), token };
    } catch (error) {
      // Not the caller's own token, of which the code would speak.
      if (codeOf(error) === 'bad_grant') throw unknownGrant(id);
      throw error;
    }
  }

  /** Rejects with `bad_params` if there is no such grant. */
  async revoke({ params: [id = ''] }: HttpContext): Promise<JsonObject> {
    if (await this.#options.store.revoke(id)) return { revoked: true };
    throw unknownGrant(id);
  }
}

function unknownGrant(id: string): BridgeError {
  return new BridgeError('bad_params', `There is no live grant ${JSON.stringify(id)}.`);
}

function toTerms({ ttl_seconds: seconds, read_only: readOnly, per_minute: perMinute, ...others }: JsonObject): GrantTerms {
  // Each is checked when it is issued.
  return { ...others, ttlMs: toTtlMs(seconds), readOnly, perMinute } as GrantTerms;
}

/** As it was sent: it is checked where it is used. */
function toTtlMs(seconds: unknown): GrantTerms['ttlMs'] {
  return (typeof seconds === 'number' ? seconds * 1000 : seconds) as GrantTerms['ttlMs'];
}

/** A term that is wrong is one of the request. */
async function asParams<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (codeOf(error) === 'bad_usage' && error instanceof Error) throw new BridgeError('bad_params', error.message, { cause: error });
    throw error;
  }
}
