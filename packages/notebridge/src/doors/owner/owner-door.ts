import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeServers } from '../../catalog/describe-servers.js';
import type { ToolServers } from '../../core/tool-server.js';
import { printMessage } from '../../core/wire.js';
import { type Authenticate, Authenticator } from '../http/authenticator.js';
import type { HttpApp } from '../http/http-app.js';
import { isRefusal, type Refusal, refuse, toRefusal } from '../http/refusal.js';
import { replyRefused } from '../http/reply-refused.js';
import { createBindingsInputRoute } from './bindings-input.js';
import { unknownServer } from './unknown-server.js';

export interface OwnerDoorOptions {
  servers: ToolServers;
  authenticate: Authenticate;
}

/** Under which the owner's own commands ask the hub how it fares. */
export const ownerPrefix = '/api/v1/hub';

/** Adds what only the owner may know: how each server fares, by which process, and why one failed. Call it before `listenHttp`. */
export function createOwnerDoor(app: HttpApp, options: OwnerDoorOptions): void {
  app.addRoutes((fastify) => addOwnerRoutes(fastify, options, app));
}

function addOwnerRoutes(fastify: FastifyInstance, { servers, authenticate }: OwnerDoorOptions, app: HttpApp): void {
  const authenticator = new Authenticator(authenticate, { onRefused: app.refused });
  const refusalOf = async (request: FastifyRequest): Promise<Refusal | undefined> => {
    const principal = await authenticator.check(request.raw);
    if (isRefusal(principal)) return principal;
    if (principal.kind === 'owner') return undefined;
    app.refused(request.raw, { reason: 'wrong_door', grantId: principal.kind === 'grant' ? principal.grantId : undefined });
    return refuse(403, 'This is for the owner of the hub alone.');
  };

  fastify.get(`${ownerPrefix}/servers`, async (request, reply) => {
    const refusal = await refusalOf(request);
    return refusal === undefined ? send(reply, { servers: describeServers(servers) }) : replyRefused(reply, refusal);
  });

  const answerBindings = createBindingsInputRoute({ servers, send });
  fastify.get(`${ownerPrefix}/bindings`, async (request, reply) => {
    const refusal = await refusalOf(request);
    return refusal === undefined ? answerBindings(request, reply) : replyRefused(reply, refusal);
  });

  /** One server with its tools: it is started if they are not known yet. */
  fastify.get(`${ownerPrefix}/servers/:name`, async (request, reply) => {
    const refusal = await refusalOf(request);
    if (refusal !== undefined) return replyRefused(reply, refusal);
    const { name } = request.params as { name: string };
    try {
      const server = servers.get(name);
      if (server === undefined) throw unknownServer(name, servers);
      await server.listTools();
    } catch (error) {
      const known = toRefusal(error);
      if (known === undefined) throw error;
      return replyRefused(reply, known);
    }
    return send(
      reply,
      describeServers(servers).find((report) => report.name === name),
    );
  });
}

function send(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(printMessage(value));
}
