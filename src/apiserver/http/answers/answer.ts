import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from '../../handlers/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Negotiated } from '../negotiation/negotiate.ts';
import { isPretty } from '../negotiation/pretty.ts';
import { compressed, isWorthIt, takesGzip } from './compress.ts';
import { wholeBody } from './list-body.ts';
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

/** Sends what a verb answered, in the form that was asked for. */
export async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
  { resource, negotiated, compress, now }: AnswerOptions,
): Promise<FastifyReply | undefined> {
  if (answer.form !== 'list') addWarnings(reply, answer.warnings);
  const { form, mediaType } = negotiated;
  const pretty = isPretty(request, negotiated.pretty);
  const made = render(answer, { resource, form, pretty, now });
  const rendered = made instanceof Promise ? await made : made;
  if (request.method === 'GET') reply.header('vary', compress ? 'Accept, Accept-Encoding' : 'Accept');
  if (!Buffer.isBuffer(rendered) && !(compress && takesGzip(request.headers['accept-encoding']))) {
    describeBody(reply, mediaType);
    sendLong(reply, answer.code, rendered);
    return undefined;
  }
  const body = Buffer.isBuffer(rendered) ? rendered : wholeBody(rendered);
  const packed = compress && isWorthIt(request, body) ? await compressed(body) : undefined;
  if (packed !== undefined) reply.header('content-encoding', 'gzip');
  return sendBody(reply, answer.code, mediaType, packed ?? body);
}

/** Sends what nobody on the way may keep. */
export function sendBody(reply: FastifyReply, code: number, mediaType: string, body: Buffer): FastifyReply {
  return describeBody(reply, mediaType).code(code).send(body);
}

function describeBody(reply: FastifyReply, mediaType: string): FastifyReply {
  return reply.header('content-type', mediaType).header('cache-control', 'no-cache, private');
}
