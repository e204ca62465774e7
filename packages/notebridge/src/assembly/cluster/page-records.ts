import { ofHubItself } from '@notebridge/cluster/cluster-parts';
import { errorCodeMetaKey } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import { type KeptSlot, parseKeptSlot } from '../../notebooks/pages/slot-store.js';

/** What the claims of pages begin with. */
export const pageResources = 'page.';
/** The resource under which each hub answers for its pages. */
export const pagesOfHub = `${ofHubItself}pages`;
/** Lets go of those of `pages` in which no living page is; `yielded` says which. */
export const yieldMethod = 'notebridge/yield_pages';

/** What is written of a page's slot for the hub that has it next: digests of its tokens, never a token. */
export interface PageRecord extends Omit<KeptSlot, 'key' | 'tools'> {
  /** Where the tools are that its last page listed. */
  toolsKey: string | undefined;
  /** For people. */
  title: string;
  /** False: no page has ever come to it. */
  hadPage: boolean;
  /** When it was written, by the clock of the hub that wrote it. Milliseconds since the epoch. */
  at: number;
}

/** Of the cluster, and never used twice. */
export function newPageId(runtime: Runtime): string {
  return `page-${runtime.bytes(9).toString('base64url')}`;
}

/** True for the id of a page's notebook, which it keeps at whichever hub it is. */
export function isPageId(id: string): boolean {
  return /^page-[\w-]{12}$/.test(id);
}

export function printPageRecord({ tokens, allowOrigins, ...others }: PageRecord): JsonObject {
  const { passes, lasting } = tokens;
  return { ...others, allowOrigins: [...allowOrigins], tokens: { passes: passes.map((pass) => ({ ...pass })), lasting: [...lasting] } };
}

/** Undefined: it is none. */
export function parsePageRecord(about: JsonObject): PageRecord | undefined {
  const kept = parseKeptSlot({ ...about, key: 'page' }, []);
  if (kept === undefined) return undefined;
  const { toolsKey, title, hadPage, at } = about;
  const { key: _, tools: __, ...slot } = kept;
  return {
    ...slot,
    toolsKey: typeof toolsKey === 'string' ? toolsKey : undefined,
    title: typeof title === 'string' ? title : '',
    hadPage: hadPage === true,
    at: typeof at === 'number' ? at : 0,
  };
}

/** The digests of all tokens that let a page in, as text. */
export function digestsIn({ tokens: { passes, lasting } }: PageRecord): string[] {
  return [...passes.flatMap(({ token, offered }) => (offered === undefined ? [token] : [token, offered])), ...lasting];
}

/** What a call of `yieldMethod` names, or its answer. */
export function parsePageIds(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((id): id is string => typeof id === 'string' && isPageId(id)) : [];
}

/** Whether a tool was refused because no page is there: then nothing was called. */
export function isNotConnected({ isError, _meta }: JsonObject): boolean {
  return isError === true && isJsonObject(_meta) && _meta[errorCodeMetaKey] === 'not_connected';
}
