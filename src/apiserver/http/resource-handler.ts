import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Verb } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import type { Answer, ApiRequest } from '../handlers/index.ts';
import { create, get, list, remove, update, watch } from '../handlers/index.ts';
import type { EventEncoding } from '../storage/index.ts';
import type { Admitted } from './admit.ts';
import { admit } from './admit.ts';
import { isPretty, sendAnswer } from './answer.ts';
import type { EventEncodings } from './event-encodings.ts';
import type { Form } from './negotiate.ts';
import { checkContentType, negotiate, withInclude } from './negotiate.ts';
import type { HttpOptions } from './options.ts';
import { closeSignal } from './request.ts';
import type { Route } from './routes.ts';
import { streamWatch } from './watch-stream.ts';

const handlers: Readonly<Record<Exclude<Verb, 'watch'>, (request: ApiRequest) => Promise<Answer>>> = {
  create,
  delete: remove,
  get,
  list,
  update,
};

/** What the handlers of all routes share. */
export interface Shared {
  options: HttpOptions;
  encodings: EventEncodings;
  /** Requests whose answer goes on until somebody ends it. */
  streams: WeakSet<FastifyRequest>;
  /** Takes a seat among the requests that are worked on; throws 429. */
  enter(method: string): Disposable;
}

/** Answers every method on one path of the API: who, may they; then the body, how many at once, what, in which form. */
export function resourceHandler(route: Route, { options, encodings, streams, enter }: Shared) {
  const admissions = new WeakMap<FastifyRequest, Admitted>();
  return {
    async onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      admissions.set(request, await admit(route, request, reply, options));
    },
    async handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
      const admitted = admissions.get(request);
      if (admitted === undefined) throw new Error('a request came to its handler without being admitted');
      const form = formOf(request, admitted);
      if (admitted.verb === 'watch') {
        streams.add(request);
        await startWatch(reply, admitted, encodings(route.resource, form), options);
        return undefined;
      }
      const body = bodyOf(request.body);
      if (body !== '') checkContentType(request.headers['content-type']);
      using _seat = enter(request.method);
      const answer = await handlers[admitted.verb]({ ...admitted, body, signal: closeSignal(reply.raw) });
      const pretty = isPretty(admitted.query);
      return sendAnswer(reply, answer, { resource: route.resource, form, pretty, now: options.clock.now() });
    },
  };
}

function formOf({ headers, method }: FastifyRequest, { resource, query }: Admitted): Form {
  return withInclude(negotiate(headers.accept, resource.groupSuffix, method === 'GET'), query);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function bodyOf(body: unknown): string {
  if (!Buffer.isBuffer(body)) return '';
  try {
    return utf8.decode(body);
  } catch {
    throw new StatusError('BadRequest', 'the body is not valid UTF-8');
  }
}

async function startWatch(
  reply: FastifyReply,
  admitted: Admitted,
  encoding: EventEncoding,
  { clock, log }: HttpOptions,
): Promise<void> {
  const closed = closeSignal(reply.raw);
  const request = watch({ ...admitted, body: '', signal: closed }); // wrong parameters are still answered as errors
  reply.hijack();
  const response = reply.raw;
  try {
    await streamWatch({ request, untilMs: admitted.untilMs, encoding, response, closed, clock, log });
  } catch (error) {
    log.error({ err: error }, 'a watch failed');
    response.destroy();
  }
}
