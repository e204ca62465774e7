import type { HttpContext } from './http-context.js';
import { sendEmpty } from './raw-answer.js';

/** What a page may send along where a route names nothing else. */
const usualHeaders = 'authorization, content-type, accept, idempotency-key, if-none-match, x-request-id';

/** Answers OPTIONS. A preflight of an allowed page gets what it asks for; any other caller just the methods. */
export function answerOptions(
  { request: { headers: asked }, response, headers }: HttpContext,
  { methods, requestHeaders = usualHeaders }: { methods: readonly string[]; requestHeaders?: string | undefined },
): void {
  const names = methods.join(', ');
  const isPreflight = asked.origin !== undefined && asked['access-control-request-method'] !== undefined;
  const allowed = ['access-control-allow-methods', names, 'access-control-allow-headers', requestHeaders, 'access-control-max-age', '600'];
  sendEmpty(response, 204, [...headers, 'allow', names, ...(isPreflight ? allowed : [])]);
}
