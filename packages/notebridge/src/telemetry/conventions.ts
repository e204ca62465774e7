import type { BegunCall } from '@notebridge/protocol/core/call-observer';
import type { Attributes } from '@opentelemetry/api';
import { otherLabel, outcomeLabel, toLabel } from './bounded-labels.js';
import type { OutgoingCall } from './outgoing-calls.js';

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

/** Of a duration. Written without copies, as those of spans are: they are made for each call. */
export function durationAttributes(subject: CallSubject, outcome: string): Attributes {
  return addOutcome(addSubject({}, subject), outcome);
}

/** Of the span of a call that came in by a door. */
export function serverAttributes({ context: { caller, callId } }: BegunCall, subject: CallSubject, outcome: string): Attributes {
  const { door, sessionId } = caller;
  const attributes: Attributes = { 'mcp.session.id': sessionId, 'notebridge.door': door, 'notebridge.call_id': toLabel(callId) };
  return addOutcome(addSubject(addTransport(attributes, transportOf[door]), subject), outcome);
}

/** Of the span of a request to a server: the way there, and in which version of the protocol. `statusCode`: by which the server refused. */
export function clientAttributes(
  { url, protocolVersion }: OutgoingCall,
  subject: CallSubject,
  { outcome, statusCode }: { outcome: string; statusCode: string | undefined },
): Attributes {
  const attributes = addTransport({ 'mcp.protocol.version': protocolVersion }, url === undefined ? 'pipe' : 'tcp');
  if (url !== undefined) addPlace(attributes, url);
  addOutcome(addSubject(attributes, subject), outcome);
  // By the conventions the code is the type of the error, where there is one.
  if (statusCode !== undefined) attributes['rpc.response.status_code'] = attributes['error.type'] = statusCode;
  return attributes;
}

function addSubject(attributes: Attributes, { method, server, tool }: CallSubject): Attributes {
  attributes['mcp.method.name'] = method;
  if (method === 'tools/call') attributes['gen_ai.operation.name'] = 'execute_tool';
  if (tool !== undefined) attributes['gen_ai.tool.name'] = tool;
  if (server !== undefined) attributes['notebridge.server'] = server;
  return attributes;
}

/** How it ended. A call that waits for a person has not failed. */
function addOutcome(attributes: Attributes, outcome: string): Attributes {
  attributes['notebridge.outcome'] = outcome;
  if (!isGood(outcome)) attributes['error.type'] = outcome;
  return attributes;
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

/** Of a door. A call of the program itself has none. */
const transportOf: Record<BegunCall['context']['caller']['door'], Transport> = {
  stdio: 'pipe',
  http: 'tcp',
  'tool-proxy': 'tcp',
  command: undefined,
  library: undefined,
};

function addTransport(attributes: Attributes, transport: Transport): Attributes {
  if (transport !== undefined) attributes['network.transport'] = transport;
  if (transport === 'tcp') attributes['network.protocol.name'] = 'http';
  return attributes;
}

function addPlace(attributes: Attributes, url: string): void {
  if (!URL.canParse(url)) return;
  const { hostname, port, protocol } = new URL(url);
  attributes['server.address'] = hostname;
  attributes['server.port'] = Number(port) || (protocol === 'https:' ? 443 : 80);
}

function toMethod(method: string): string {
  return knownMethods.has(method) ? method : otherLabel;
}
