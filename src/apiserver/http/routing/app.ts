import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import type { FastifyInstance } from 'fastify';

/** The router that routes are added to. */
export type App = FastifyInstance<Server, IncomingMessage, ServerResponse>;
