import type { FastifyReply, FastifyRequest } from 'fastify';

/** A path that is no object of the API, and what is answered there. */
export interface DocumentRoute {
  path: string;
  /** Whether whoever has no credentials is answered too. */
  open?: boolean;
  respond(request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply>;
}
