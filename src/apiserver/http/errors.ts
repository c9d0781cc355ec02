import type { FastifyReply, FastifyRequest } from 'fastify';
import { DecodeError, JsonError, StatusError } from '../../api/index.ts';
import type { ClientErrorCode, ErrorBody } from '../../base/https/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError, errorCode } from '../../base/index.ts';
import { StorageError } from '../storage/index.ts';
import { sendBody } from './answers/answer.ts';
import { statusBody } from './answers/status-body.ts';
import { unknownFormat } from './negotiation/body.ts';
import { mediaTypes } from './negotiation/media-types.ts';
import { negotiateError } from './negotiation/negotiate.ts';
import { isPretty } from './negotiation/pretty.ts';
import { pathOf } from './routing/request.ts';

/** The StatusError that tells a client of anything that was thrown; what is not for clients stays in the log. */
export function toStatusError(error: unknown, log: Logger): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof DecodeError || error instanceof JsonError) {
    return new StatusError('BadRequest', error.message, { cause: error });
  }
  if (error instanceof StorageError) {
    log.error({ err: error }, `the store cannot answer: ${error.message}`);
    return new StatusError('ServiceUnavailable', 'the store cannot answer now', {
      details: { retryAfterSeconds: 1 },
    });
  }
  return fromServer(error) ?? unexpected(error, log);
}

/** What the HTTP server itself found wrong with a request. */
function fromServer(error: unknown): StatusError | undefined {
  const code = errorCode(error);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new StatusError(
      'RequestEntityTooLarge',
      `the body is too large: the limit is ${bodyLimitBytes} bytes`,
    );
  }
  if (code === 'ECONNRESET')
    return new StatusError('BadRequest', 'the client went before its request was whole');
  if (code === 'FST_ERR_BAD_URL' || error instanceof URIError) {
    return new StatusError('BadRequest', 'the path is not valid');
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unknownFormat([...mediaTypes.keys()]);
  if (code?.startsWith('FST_ERR_CTP_')) return new StatusError('BadRequest', describeError(error));
  return undefined;
}

function unexpected(error: unknown, log: Logger): StatusError {
  log.error({ err: error }, `unexpected failure: ${describeError(error)}`);
  return new StatusError('InternalError', 'an error on the server has prevented the request from succeeding');
}

/** The largest request body: 3 MiB, as the reference has it. */
export const bodyLimitBytes = 3 * 1024 * 1024;

/** Writes every error response of the server, in the client's encoding; that there is none for it is told in JSON. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Logger,
): FastifyReply {
  const told = toStatusError(error, log.child({ method: request.method, path: pathOf(request) }));
  const retry = told.details?.retryAfterSeconds;
  if (retry !== undefined) reply.header('retry-after', String(retry));
  if (told.code === 401) reply.header('www-authenticate', 'Bearer realm="nodeward"');
  reply.header('vary', 'Accept');
  const accept = told.code === 406 ? undefined : request.headers.accept;
  const { form, mediaType, pretty } = negotiateError(accept);
  return sendBody(reply, told.code, mediaType, statusBody(told.toStatus(), form, isPretty(request, pretty)));
}

/** The Status for what never became a request; it is always JSON, because no header was read. */
export function clientErrorBody(code: ClientErrorCode): ErrorBody {
  return { contentType: 'application/json', body: JSON.stringify(clientError(code).toStatus()) };
}

/** HTTP codes without a reason of their own in a Status have an empty one. */
function clientError(code: ClientErrorCode): StatusError {
  switch (code) {
    case 431:
      return new StatusError('', 'the headers of the request are too large', { code });
    case 408:
      return new StatusError('', 'the request did not come whole in time', { code });
    case 400:
      return new StatusError('BadRequest', 'this is no HTTP request');
  }
}
