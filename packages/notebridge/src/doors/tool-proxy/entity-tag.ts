import { type HttpContext, sendBody, sendEmpty } from '../http/http-context.js';

/** Responds with a body and its tag, or with 304 if the caller has it already. `headers`: names and values in turn. */
export function sendTagged(
  { request, response, headers: own }: HttpContext,
  { tag, type, body, headers }: { tag: string; type: string; body: string | Uint8Array; headers: readonly string[] },
): void {
  const entityTag = `"${tag}"`;
  const all = [...own, 'etag', entityTag, 'cache-control', 'private, no-cache', ...headers];
  if (isKnownTag(request.headers['if-none-match'], entityTag)) sendEmpty(response, 304, all);
  else sendBody(response, 200, body, [...all, 'content-type', type]);
}

/** True if the `If-None-Match` of a request says that the caller has what the tag stands for. */
function isKnownTag(ifNoneMatch: string | undefined, tag: string): boolean {
  const known = ifNoneMatch?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? [];
  return known.includes(tag) || known.includes('*');
}
