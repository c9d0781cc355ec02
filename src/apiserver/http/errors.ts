import type { FastifyReply, FastifyRequest } from 'fastify';
import { DecodeError, JsonError, StatusError } from '../../api/index.ts';
import type { ClientErrorCode, ErrorBody } from '../../base/https/index.ts';
import type { Logger } from '../../base/index.ts';
import { describeError, errorCode } from '../../base/index.ts';
import { StorageError } from '../storage/index.ts';
import { sendBody } from './answers/answer.ts';
import { renderStatus } from './answers/status-body.ts';
import { unknownFormat } from './negotiation/body.ts';
import { mediaTypes } from './negotiation/media-types.ts';
import { negotiateError } from './negotiation/negotiate.ts';
import { isPretty } from './negotiation/pretty.ts';
import { pathOf } from './routing/request.ts';

/** Converts anything that was thrown to the error for the client; details that are not for clients are only logged. */
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
  return fromHttpServer(error) ?? unexpectedError(error, log);
}

/** An error of the HTTP server itself; undefined for any other. */
function fromHttpServer(error: unknown): StatusError | undefined {
  const code = errorCode(error);
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new StatusError(
      'RequestEntityTooLarge',
      `the body is too large: the limit is ${bodyLimitBytes} bytes`,
    );
  }
  if (code === 'ECONNRESET')
    return new StatusError('BadRequest', 'the client went before its request was whole');
  if (badPaths.includes(code) || error instanceof URIError) {
    return new StatusError('BadRequest', 'the path is not valid');
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unknownFormat([...mediaTypes.keys()]);
  if (code?.startsWith('FST_ERR_CTP_')) return new StatusError('BadRequest', describeError(error));
  return undefined;
}

const badPaths: readonly (string | undefined)[] = ['FST_ERR_BAD_URL', 'FST_ERR_MAX_PARAM_LENGTH'];

function unexpectedError(error: unknown, log: Logger): StatusError {
  log.error({ err: error }, `unexpected failure: ${describeError(error)}`);
  return new StatusError('InternalError', 'an error on the server has prevented the request from succeeding');
}

/** The largest request body: 3 MiB, as in the reference. */
export const bodyLimitBytes = 3 * 1024 * 1024;

/** Sends every error response of the server in an encoding that the client accepts, else (406) in JSON. */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: Logger,
): FastifyReply {
  const failure = toStatusError(error, log.child({ method: request.method, path: pathOf(request) }));
  const retry = failure.details?.retryAfterSeconds;
  if (retry !== undefined) reply.header('retry-after', String(retry));
  if (failure.code === 401) reply.header('www-authenticate', 'Bearer realm="nodeward"');
  reply.header('vary', 'Accept');
  const accept = failure.code === 406 ? undefined : request.headers.accept;
  const { form, mediaType, pretty } = negotiateError(accept);
  return sendBody(
    reply,
    failure.code,
    mediaType,
    renderStatus(failure.toStatus(), form, isPretty(request, pretty)),
  );
}

/** The response to bytes that were no complete request: a Status, always in JSON because no header was read. */
export function renderClientError(code: ClientErrorCode): ErrorBody {
  return { contentType: 'application/json', body: JSON.stringify(toClientError(code).toStatus()) };
}

/** HTTP codes for which Status has no reason get an empty one. */
function toClientError(code: ClientErrorCode): StatusError {
  switch (code) {
    case 431:
      return new StatusError('', 'the headers of the request are too large', { code });
    case 408:
      return new StatusError('', 'the request did not come whole in time', { code });
    case 400:
      return new StatusError('BadRequest', 'this is no HTTP request');
  }
}
