import type { Attributes } from '@opentelemetry/api';
import type { BegunCall } from '../core/call-observer.js';
import type { OutgoingCall } from '../core/telemetry.js';
import { otherLabel, outcomeLabel, toLabel } from './bounded-labels.js';

/**
 * What spans and metrics are called by: OpenTelemetry's conventions for MCP, which are in development and change. Followed is this state of
 * `docs/gen-ai/mcp.md` in `open-telemetry/semantic-conventions-genai`; docs/operating.md names it too.
 */
export const conventionsCommit = '0393513c908bf895e7b3ec480a2c1eb073c584af';

/** Boundaries of both histograms, by the same conventions. Seconds. */
export const durationBoundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Requests whose name may stand in the name of a span or in a label. */
const knownMethods = new Set([
  'tools/call',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/get',
  'completion/complete',
]);

/** What a call is about, in names that are bounded in length. */
export interface CallSubject {
  method: string;
  server: string | undefined;
  /** By the server's own name; undefined if it calls no tool, or it is not known yet which. */
  tool: string | undefined;
}

export function subjectOf({ context, address }: BegunCall): CallSubject {
  const { method } = context;
  const isCall = method === 'tools/call' && address !== undefined && address.tool !== '';
  return { method: toMethod(method), server: address && toLabel(address.server), tool: isCall ? toLabel(address.tool) : undefined };
}

export function subjectOfOutgoing({ method, params, server }: OutgoingCall): CallSubject {
  const tool = method === 'tools/call' && typeof params.name === 'string' ? toLabel(params.name) : undefined;
  return { method: toMethod(method), server: toLabel(server), tool };
}

/** Attributes of the span and of the duration of a call alike. */
export function subjectAttributes({ method, server, tool }: CallSubject): Attributes {
  return {
    'mcp.method.name': method,
    ...(method === 'tools/call' && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(tool !== undefined && { 'gen_ai.tool.name': tool }),
    ...(server !== undefined && { 'notebridge.server': server }),
  };
}

/** How it ended. A call that waits for a person has not failed. */
export function outcomeAttributes(outcome: string): Attributes {
  return { 'notebridge.outcome': outcome, ...(!isGood(outcome) && { 'error.type': outcome }) };
}

export function isGood(outcome: string): boolean {
  return outcome === 'ok' || outcome === 'asked';
}

/** The outcome of the audit. A word of its own can only come from a server whose tool failed. */
export function toKnownOutcome(outcome: string): string {
  const label = outcomeLabel(outcome);
  return label === otherLabel ? 'tool_error' : label;
}

type Transport = 'pipe' | 'tcp' | undefined;

/** By which door it came. A call of the program itself has no transport. */
export function doorAttributes({ context: { caller, callId } }: BegunCall): Attributes {
  const { door, sessionId } = caller;
  const transport = transportOf[door];
  return {
    'mcp.session.id': sessionId,
    'notebridge.door': door,
    'notebridge.call_id': toLabel(callId),
    ...transportAttributes(transport),
  };
}

/** By which way it goes to a server, and in which version of the protocol. */
export function wayAttributes({ url, protocolVersion }: OutgoingCall): Attributes {
  return { 'mcp.protocol.version': protocolVersion, ...placeOf(url), ...transportAttributes(url === undefined ? 'pipe' : 'tcp') };
}

const transportOf: Record<BegunCall['context']['caller']['door'], Transport> = {
  stdio: 'pipe',
  http: 'tcp',
  'tool-proxy': 'tcp',
  command: undefined,
  library: undefined,
};

function transportAttributes(transport: Transport): Attributes {
  if (transport === undefined) return {};
  return { 'network.transport': transport, ...(transport === 'tcp' && { 'network.protocol.name': 'http' }) };
}

function placeOf(url: string | undefined): Attributes {
  if (url === undefined || !URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

function toMethod(method: string): string {
  return knownMethods.has(method) ? method : otherLabel;
}
