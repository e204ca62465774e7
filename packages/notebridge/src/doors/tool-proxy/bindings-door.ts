import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { gatherInput } from '../../bindings/input.js';
import { type BindingLanguage, bindingLanguages } from '../../bindings/languages.js';
import { ServedBindings } from '../../bindings/served-bindings.js';
import type { Logger } from '../../core/logger.js';
import type { Principal } from '../../core/principal.js';
import type { Authenticator } from '../http/authenticator.js';
import { isRefusal, type Refusal } from '../http/refusal.js';
import { isKnownTag } from './entity-tag.js';
import type { ToolProxy } from './tool-proxy-context.js';

export interface BindingsDoorOptions {
  under: string;
  proxy: ToolProxy;
  authenticator: Authenticator;
  logger: Logger;
  sendRefused: (reply: FastifyReply, refusal: Refusal) => FastifyReply;
}

/** How long an archive waits for servers that were never asked for their tools. Milliseconds. */
const patienceMs = 10_000;

/** Adds the current bindings as archives, for kernels that share no folder with the hub. They have the tools that the grant may call. */
export default async function addBindingsRoutes(
  fastify: FastifyInstance,
  { under, proxy, authenticator, logger, sendRefused }: BindingsDoorOptions,
): Promise<void> {
  const served = new ServedBindings();
  const send = async (language: BindingLanguage, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const principal = await authenticator.check(request.raw);
    if (isRefusal(principal)) return sendRefused(reply, principal);
    // The name under which the caller has reached us is one that it can reach; which names are ours was checked before.
    const hubUrl = `${request.protocol}://${request.host}${under}`;
    const { input, warnings } = await gatherInput(proxy.servers, { hubUrl, patienceMs, mayShow: mayShowTo(proxy, principal) });
    for (const warning of warnings) logger.warn(warning);
    const { contentHash, bytes } = await served.archive(language, input);
    const tag = `"${contentHash}"`;
    reply.header('etag', tag).header('cache-control', 'private, no-cache').header('vary', 'authorization, host');
    if (isKnownTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
    const name = `generated-${language}.tar.gz`;
    return reply.type('application/gzip').header('content-disposition', `attachment; filename="${name}"`).send(bytes);
  };
  for (const language of bindingLanguages) {
    fastify.get(`${under}/bindings/${language}.tar.gz`, (request, reply) => send(language, request, reply));
  }
}

function mayShowTo(proxy: ToolProxy, principal: Principal): NonNullable<Parameters<typeof gatherInput>[1]['mayShow']> {
  return (server, tool) =>
    tool === undefined ? proxy.mayListWhole(principal, server) : proxy.mayList(principal, { server, tool: tool.name }, tool);
}
