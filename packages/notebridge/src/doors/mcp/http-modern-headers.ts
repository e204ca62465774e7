import type { IncomingMessage } from 'node:http';
import { type BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import { decodeHeaderValue, findMismatch } from '@notebridge/protocol/core/param-headers';
import type { JsonObject } from '@notebridge/protocol/json';
import type { RpcRequest } from '@notebridge/protocol/rpc/messages';
import { envelopeKeys } from '@notebridge/protocol/rpc/modern-envelope';
import { quote } from '@notebridge/protocol/util/quote';
import type { Hub } from '../../hub.js';
import { headerOf } from './http-call.js';
import { faultOf, type HttpFault, headerMismatch } from './http-fault.js';
import { parseEnvelope } from './modern-era.js';

/** What `Mcp-Name` must repeat of the params, so that proxies can distinguish calls without reading bodies. */
const nameSources: Record<string, 'name' | 'uri' | 'taskId'> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/**
 * Checks envelope and headers of a modern request, in the order of the SDKs: what disagrees, then what is not served, then what is
 * missing. Undefined if the request may be answered.
 */
export function checkModernRequest(http: IncomingMessage, request: RpcRequest, meta: JsonObject): HttpFault | undefined {
  const { id, method } = request;
  const version = meta[envelopeKeys.protocolVersion];
  const headers = { version: headerOf(http, 'mcp-protocol-version'), method: headerOf(http, 'mcp-method') };
  if (headers.version !== undefined && headers.version !== version)
    return headerMismatch(`MCP-Protocol-Version says ${quote(headers.version)}, the body ${quote(version)}.`, id);
  if (headers.method !== undefined && headers.method !== method)
    return headerMismatch(`Mcp-Method says ${quote(headers.method)}, the body ${quote(method)}.`, id);
  try {
    parseEnvelope(method, meta);
  } catch (error) {
    return faultOf(codeOf(error) === 'unknown_method' ? 404 : 400, error as BridgeError, id);
  }
  if (headers.version === undefined) return headerMismatch('The header MCP-Protocol-Version is missing.', id);
  if (headers.method === undefined) return headerMismatch('The header Mcp-Method is missing.', id);
  return checkName(http, request);
}

function checkName(http: IncomingMessage, { id, method, params }: RpcRequest): HttpFault | undefined {
  const source = Object.hasOwn(nameSources, method) ? nameSources[method] : undefined;
  if (source === undefined) return undefined;
  const wanted = params?.[source];
  const header = headerOf(http, 'mcp-name');
  if (header === undefined)
    return typeof wanted === 'string'
      ? headerMismatch(`The header Mcp-Name is missing; it must be that of params.${source}.`, id)
      : undefined;
  const name = decodeHeaderValue(header);
  if (name === undefined) return headerMismatch(`Mcp-Name is not encoded correctly: ${quote(header)}.`, id);
  if (typeof wanted !== 'string' || name === wanted) return undefined;
  return headerMismatch(`Mcp-Name says ${quote(name)}, params.${source} ${quote(wanted)}.`, id);
}

/** Checks that the headers of a tool call repeat the arguments that the tool declares. */
export function checkParams(http: IncomingMessage, { id, method, params }: RpcRequest, hub: Hub): HttpFault | undefined {
  if (method !== 'tools/call') return undefined;
  const declared = hub.paramHeadersOf(params?.name);
  if (declared.length === 0) return undefined;
  const mismatch = findMismatch(declared, params?.arguments, (name) => headerOf(http, name));
  return mismatch === undefined ? undefined : headerMismatch(mismatch, id);
}
