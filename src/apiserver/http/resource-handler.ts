import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Verb } from '../../api/index.ts';
import type { Answer, ApiRequest, SharedReads } from '../handlers/index.ts';
import {
  accessDiff,
  confirmRefusals,
  create,
  get,
  list,
  patch,
  readMeasured,
  remove,
  removeCollection,
  update,
  watch,
} from '../handlers/index.ts';
import { asksForDiff, diffHeader } from './admission/access-diff.ts';
import type { Admitted } from './admission/admit.ts';
import { admit } from './admission/admit.ts';
import { auditBody, auditStarted } from './admission/audit.ts';
import { sendAnswer } from './answers/answer.ts';
import { addWarnings } from './answers/warnings.ts';
import type { Enter } from './flow/in-flight.ts';
import { bodyOf } from './negotiation/body.ts';
import type { AnswerKind, Negotiated } from './negotiation/negotiate.ts';
import { withInclude } from './negotiation/negotiate.ts';
import type { Negotiator } from './negotiation/negotiator.ts';
import { createNegotiator } from './negotiation/negotiator.ts';
import { patchFormatOf, patchOf } from './negotiation/patch-body.ts';
import type { HttpOptions } from './options.ts';
import type { RouteCount } from './request-counts.ts';
import type { Route } from './routing/routes.ts';
import type { EventEncodings } from './watch/event-encodings.ts';
import type { WatchSlots } from './watch/watch-slots.ts';
import type { WatchStreamOptions } from './watch/watch-stream.ts';
import { streamWatch } from './watch/watch-stream.ts';

type Handle = (request: ApiRequest) => Promise<Answer>;

const handlers: Readonly<Record<Exclude<Verb, 'watch'>, Handle>> = {
  create: confirmRefusals(create),
  delete: confirmRefusals(remove),
  deletecollection: removeCollection,
  get,
  list,
  patch: confirmRefusals(patch),
  update: confirmRefusals(update),
};

/** What the handlers of all routes share. */
export interface Shared {
  options: HttpOptions;
  encodings: EventEncodings;
  reads: SharedReads;
  watchSlots: WatchSlots;
  /** Watches: their answers last until the client or the server ends them. */
  streams: WeakSet<FastifyRequest>;
  enter: Enter;
}

/**
 * The hooks of one API path for all methods, in this order: authentication and authorization, form of the answer, body,
 * in-flight limit, verb, response.
 */
export function createResourceHandler(route: Route, shared: Shared & { count: RouteCount }) {
  const { options, encodings, streams, enter, count } = shared;
  const admissions = new WeakMap<FastifyRequest, Admitted>();
  const negotiator = createNegotiator(route.resource.groupSuffix);
  const measured = options.measured?.find(({ kind }) => kind === route.resource.kind);
  return {
    async onRequest(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const admitted = await admit(route, request, reply, options);
      if (admitted.verb === 'patch') patchFormatOf(request, reply); // before the body is read
      admissions.set(request, admitted);
    },
    async handler(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
      const admitted = admissions.get(request);
      if (admitted === undefined) throw new Error('a request came to its handler without being admitted');
      const negotiated = negotiateFor(request, admitted, negotiator); // before anything is done
      const { resource } = route;
      const isDiff = diffHeader in request.headers && (await asksForDiff(request, admitted, options));
      if (admitted.verb === 'watch') {
        streams.add(request);
        const { raw } = reply;
        raw.once('close', () => count.watchEnded(raw.statusCode));
        admissions.delete(request); // or it would stay in memory as long as the watch
        const encoding = encodings(resource, negotiated.form);
        await startWatch(reply, admitted, { negotiated, encoding }, shared);
        auditStarted(request);
        return undefined;
      }
      const isPatch = admitted.verb === 'patch';
      if (isPatch) admitted.patch = await patchOf(request, reply);
      else {
        const body = bodyOf(request);
        admitted.body = body instanceof Promise ? await body : body;
      }
      const entered = enter(admitted, { bytes: sizeOf(request.body), response: reply.raw });
      const slot = entered instanceof Promise ? await entered : entered;
      try {
        auditBody(request, admitted, admitted.patch?.body ?? admitted.body);
        const plain: Handle =
          measured === undefined ? handlers[admitted.verb] : (asked) => readMeasured(asked, measured);
        const handle = (admitted.body ?? admitted.patch) ? withComplaints(plain, reply) : plain;
        const answer = isDiff ? await accessDiff(admitted, handle) : await handle(admitted);
        const compress = options.registry.gates.APIResponseCompression;
        const now = options.clock.now();
        return await sendAnswer(request, reply, answer, { resource, negotiated, compress, now });
      } finally {
        slot[Symbol.dispose]();
      }
    },
  };
}

/** Warns of unknown and duplicate fields in a body also where the write is refused: they often are the reason. */
function withComplaints(handle: Handle, reply: FastifyReply): Handle {
  return async (request) => {
    let complaints: readonly string[] = [];
    const complain = (texts: readonly string[]) => {
      complaints = texts;
    };
    try {
      return await handle({ ...request, complain });
    } catch (error) {
      addWarnings(reply, complaints);
      throw error;
    }
  };
}

function sizeOf(body: unknown): number {
  return Buffer.isBuffer(body) ? body.length : 0;
}

const answerKinds: Readonly<Partial<Record<Verb, AnswerKind>>> = {
  delete: 'status',
  deletecollection: 'status',
  list: 'list',
  watch: 'watch',
};

function negotiateFor(
  { headers }: FastifyRequest,
  { query, verb }: Admitted,
  negotiator: Negotiator,
): Negotiated {
  const negotiated = negotiator(headers.accept, answerKinds[verb] ?? 'object');
  const form = withInclude(negotiated.form, query);
  return form === negotiated.form ? negotiated : { ...negotiated, form };
}

async function startWatch(
  reply: FastifyReply,
  admitted: Admitted,
  stream: Pick<WatchStreamOptions, 'negotiated' | 'encoding'>,
  { options: { clock, log }, reads, watchSlots }: Shared,
): Promise<void> {
  const response = reply.raw;
  const { untilMs } = admitted;
  watchSlots.take(response, admitted.resource);
  const closed = new AbortController();
  const leave = () => closed.abort();
  response.once('close', leave);
  // until the watch is open, errors are sent like those of any other request
  const request = await watch({ ...admitted, signal: () => closed.signal }, reads);
  response.off('close', leave);
  reply.hijack();
  streamWatch({ request, untilMs, ...stream, response, clock, log });
}
