import type { FastifyReply, FastifyRequest } from 'fastify';

/** A path that is no object of the API, and what is answered there. */
export interface DocumentRoute {
  path: string;
  /** Whether whoever has no credentials is answered too. */
  open?: boolean;
  /** Whether only members of this group are answered, whoever else may do what with paths. */
  group?: string;
  /** Default GET and HEAD. */
  methods?: readonly string[];
  respond(request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply>;
}
