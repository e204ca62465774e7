import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { ToolServers } from '@notebridge/protocol/core/tool-server';
import type { Admission } from '../../grants/admission.js';
import { parseAllowList } from '../../grants/allow-list.js';
import { describeGrant } from '../../grants/describe-grant.js';
import type { GrantTerms } from '../../grants/grant.js';
import type { GrantStore, IssuedGrant } from '../../grants/grant-store.js';
import type { OwnerAnswers } from './owner-routes.js';
import type { OwnerBody } from './owner-schemas.js';

export interface OwnedGrants {
  store: GrantStore;
  admission: Pick<Admission, 'wouldAllow'>;
}

/** The grants of the user, for their owner. What is wrong in a body is said by who issues a grant: its values are handed on as they came. */
export function grantAnswers({ store, admission }: OwnedGrants, servers: ToolServers) {
  return {
    listGrants: () => ({ grants: store.list().map(describeGrant), ...(store.isShared ? { in_cluster: true } : {}) }),
    /** Its token is in this answer, and nowhere else. Rejects with `bad_params`, `limit_reached` or `write_failed`. */
    issueGrant: async (_, read) => {
      const { ttl_seconds: seconds, read_only: readOnly, per_minute: perMinute, ...others } = await read();
      return describeIssued(await asParams(() => store.issue({ ...others, ttlMs: toTtlMs(seconds), readOnly, perMinute } as GrantTerms)));
    },
    /** Says of each tool that is known whether a grant with this scope could call it. Issues nothing, starts nothing. Rejects with `bad_params`. */
    previewGrant: async (_, read) => {
      const { allow = ['*:*'], read_only: readOnly = false } = await read();
      const allowList = await asParams(async () => parseAllowList(allow));
      const terms = { allowList, readOnly: readOnly !== false };
      const tools = servers
        .all()
        .flatMap(({ name: server, knownTools = [] }) =>
          knownTools.map((tool) => ({ server, tool: tool.name, allowed: admission.wouldAllow(terms, { server, tool: tool.name }, tool) })),
        );
      const unknown = servers.all().filter(({ knownTools }) => knownTools === undefined);
      return { tools, servers_not_asked: unknown.map(({ name }) => name) };
    },
    /** Its token is in this answer and nowhere else; the one before opens for a minute more. Rejects with `bad_params` if there is no such grant. */
    renewGrant: async ({ params: [id = ''] }, read) => {
      const { ttl_seconds: seconds } = await read();
      try {
        return describeIssued(await asParams(() => store.renew(id, toTtlMs(seconds))));
      } catch (error) {
        // Not the caller's own token, of which the code would speak.
        if (codeOf(error) === 'bad_grant') throw unknownGrant(id);
        throw error;
      }
    },
    /** Rejects with `bad_params` if there is no such grant. */
    revokeGrant: async ({ params: [id = ''] }) => {
      if (await store.revoke(id)) return { revoked: true };
      throw unknownGrant(id);
    },
  } satisfies Partial<OwnerAnswers>;
}

function describeIssued({ token, ...grant }: IssuedGrant): OwnerBody<'IssuedGrant'> {
  return { grant: describeGrant(grant), token };
}

function unknownGrant(id: string): BridgeError {
  return new BridgeError('bad_params', `There is no live grant ${JSON.stringify(id)}.`);
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
