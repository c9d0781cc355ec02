import type { FastifyReply } from 'fastify';
import type { Logger } from '../../base/index.ts';
import { describeError, errorCode } from '../../base/index.ts';

/** A refused request, worded as in the reference: the agent answers errors as plain text. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  /** The HTTP status, from 400 on. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Sends an answer for people. */
export function sendText(reply: FastifyReply, code: number, text: string): FastifyReply {
  return reply.code(code).header('content-type', 'text/plain; charset=utf-8').send(text);
}

/** Sends an answer for programs. */
export function sendJson(reply: FastifyReply, code: number, value: unknown): FastifyReply {
  return reply
    .code(code)
    .header('content-type', 'application/json')
    .send(`${JSON.stringify(value)}\n`);
}

/** Answers with an error that was thrown. An unexpected one is logged in full and answered generically. */
export function sendFailure(error: unknown, reply: FastifyReply, log: Logger): FastifyReply {
  if (error instanceof RefusedError) {
    // a client that is unknown, or comes during the stop, must not keep its connection
    if (error.code === 401 || error.code === 503) reply.header('connection', 'close');
    return sendText(reply, error.code, error.message);
  }
  const code = errorCode(error) ?? '';
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return sendText(reply, 413, 'the body is larger than any that is expected here');
  if (code === 'FST_ERR_BAD_URL' || error instanceof URIError)
    return sendText(reply, 400, 'the path is not valid');
  if (code.startsWith('FST_ERR_CTP_')) return sendText(reply, 400, describeError(error));
  log.error({ err: error }, `unexpected failure: ${describeError(error)}`);
  return sendText(reply, 500, 'an error in the agent has prevented the request from succeeding');
}
