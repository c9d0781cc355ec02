import type { FastifyReply, FastifyRequest } from 'fastify';

/** A path outside of the API's objects, with its handler. */
export interface DocumentRoute {
  path: string;
  /** Whether it is served without credentials too. */
  open?: boolean;
  /** Serves only members of this group, in addition to what authorization requires. */
  group?: string;
  /** Default GET and HEAD. */
  methods?: readonly string[];
  respond(request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply>;
}
