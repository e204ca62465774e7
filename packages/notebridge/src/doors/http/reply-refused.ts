import type { FastifyReply } from 'fastify';
import { printRefusal } from './raw-answer.js';
import type { Refusal } from './refusal.js';

/** Answers a request of the framework's with a refusal. */
export function replyRefused(reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { headers = [] } = refusal;
  for (let at = 0; at + 1 < headers.length; at += 2) reply.header(headers[at] ?? '', headers[at + 1]);
  return reply.code(refusal.status).type('application/json; charset=utf-8').send(printRefusal(refusal));
}
