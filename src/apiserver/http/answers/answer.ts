import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '../../handlers/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Negotiated } from '../negotiation/negotiate.ts';
import { isPretty } from '../negotiation/pretty.ts';
import { acceptsGzip, compressBody, shouldCompress } from './compress.ts';
import { joinBody } from './list-body.ts';
import { render } from './render.ts';
import { sendLong } from './send-long.ts';
import { addWarnings } from './warnings.ts';

export interface AnswerOptions {
  resource: Resource;
  negotiated: Negotiated;
  /** Whether large answers may be compressed. */
  compress: boolean;
  /** Wall clock, milliseconds. */
  now: number;
}

/** Sends the answer of a verb in the negotiated form. */
export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  { resource, negotiated, compress, now }: AnswerOptions,
): Promise<FastifyReply | undefined> {
  addWarnings(reply, answer.warnings ?? []);
  const { form, mediaType } = negotiated;
  const pretty = isPretty(request, negotiated.pretty);
  const rendering = render(answer, { resource, form, pretty, now });
  const rendered = rendering instanceof Promise ? await rendering : rendering;
  if (request.method === 'GET') reply.header('vary', compress ? 'Accept, Accept-Encoding' : 'Accept');
  if (!Buffer.isBuffer(rendered) && !(compress && acceptsGzip(request.headers['accept-encoding']))) {
    describeBody(reply, mediaType);
    sendLong(reply, answer.code, rendered);
    return undefined;
  }
  const body = Buffer.isBuffer(rendered) ? rendered : joinBody(rendered);
  const gzipped = compress && shouldCompress(request, body) ? await compressBody(body) : undefined;
  if (gzipped !== undefined) reply.header('content-encoding', 'gzip');
  return sendBody(reply, answer.code, mediaType, gzipped ?? body);
}

/** Sends a body that no cache may keep. */
export function sendBody(reply: FastifyReply, code: number, mediaType: string, body: Buffer): FastifyReply {
  return describeBody(reply, mediaType).code(code).send(body);
}

function describeBody(reply: FastifyReply, mediaType: string): FastifyReply {
  return reply.header('content-type', mediaType).header('cache-control', 'no-cache, private');
}
