import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';
import { firstDifference, isRecorded, likeness, toAsked } from './match.js';
import type { Exchange } from './script.js';

/** What a message of the client is in the recording. `divergence`: how it is another one, as a sentence. */
export type FoundExchange = { exchange: Exchange; divergence?: string } | { exchange: undefined; fault: BridgeError };

/** They open or look: their params say who asks, and how often they come says nothing. */
const openingMethods = new Set(['initialize', 'server/discover', 'subscriptions/listen']);
const freeMethods = new Set([...openingMethods, 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);

/** Requests that another client may make more or less often, with the same effect. */
export function isFree(method: string): boolean {
  return freeMethods.has(method) || method.endsWith('/list');
}

/** Finds what was recorded upon a message: equal ones in their order, and the last of them again when they are used up. */
export function findExchange(exchanges: readonly Exchange[], { method, params }: { method: string; params: JsonObject }): FoundExchange {
  const candidates = exchanges.filter((exchange) => exchange.method === method);
  if (candidates.length === 0) return { exchange: undefined, fault: unknownMethod(exchanges, method) };
  if (openingMethods.has(method) || !candidates[0]?.isRequest) return { exchange: nextOf(answeredOf(candidates)) };
  const asked = toAsked(params);
  // Most clients do what was recorded, in its order: all that came before was replayed, and is passed over unread.
  const next = isFree(method) ? undefined : candidates.find(({ played, params: of }) => played === 0 && isRecorded(toAsked(of), asked));
  if (next !== undefined) return { exchange: next };
  const equal = candidates.filter((candidate) => isRecorded(toAsked(candidate.params), asked));
  if (equal.length > 0) return toFound(equal, method);
  // A call that is made again with answers: the same call, whatever a person has answered this time.
  const { inputResponses, ...rest } = asked;
  const answered = candidates.filter((candidate) => isSameButForAnswers(toAsked(candidate.params), rest, inputResponses));
  if (answered.length > 0)
    return { exchange: nextOf(answered), divergence: `"${method}" came with other answers than in line ${nextOf(answered).line}.` };
  return { exchange: undefined, fault: notRecorded(candidates, method, asked) };
}

function toFound(equal: readonly Exchange[], method: string): FoundExchange {
  const exchange = nextOf(isFree(method) ? answeredOf(equal) : equal);
  if (exchange.played === 0 || isFree(method)) return { exchange };
  return { exchange, divergence: `"${method}" of line ${exchange.line} came once more than recorded, and got the same answer again.` };
}

/** Without those that whoever asked did not wait for, if there are others: a look that was broken off says nothing of the server. */
function answeredOf(exchanges: readonly Exchange[]): readonly Exchange[] {
  const answered = exchanges.filter(({ steps }) => steps.some(({ kind }) => kind === 'answer'));
  return answered.length > 0 ? answered : exchanges;
}

/** The first that was not replayed yet, else the last. */
function nextOf(exchanges: readonly Exchange[]): Exchange {
  return exchanges.find(({ played }) => played === 0) ?? (exchanges.at(-1) as Exchange);
}

function isSameButForAnswers({ inputResponses: recorded, ...asked }: JsonObject, found: JsonObject, answers: unknown): boolean {
  return recorded !== undefined && answers !== undefined && isRecorded(asked, found);
}

function unknownMethod(exchanges: readonly Exchange[], method: string): BridgeError {
  const recorded = [...new Set(exchanges.filter(({ isRequest }) => isRequest).map((exchange) => exchange.method))];
  return new BridgeError(
    'unknown_method',
    `"${method}" was not recorded. Recorded were: ${recorded.length === 0 ? 'no requests' : recorded.join(', ')}.`,
  );
}

function notRecorded(candidates: readonly Exchange[], method: string, asked: JsonObject): BridgeError {
  const [nearest] = candidates
    .map((exchange) => ({ exchange, like: likeness(toAsked(exchange.params), asked) }))
    .sort((one, other) => other.like - one.like);
  const { line = 0, params = {} } = nearest?.exchange ?? {};
  const difference = firstDifference(toAsked(params), asked);
  const how =
    difference === undefined ? '' : `: there "${difference.path}" is ${quote(difference.recorded)}, here ${quote(difference.found)}`;
  return new BridgeError('not_recorded', `"${method}" was not recorded with these params. The nearest stands in line ${line}${how}.`, {
    data: { line, recorded: toAsked(params) },
  });
}
