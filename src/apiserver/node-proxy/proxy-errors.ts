import { StatusError } from '../../api/index.ts';
import { describeError, errorCode } from '../../base/index.ts';
import { NodeAwayError } from './connector.ts';

/** The error for the caller when a node or pod gave no answer: 503 not reachable, 504 timeout, 502 not the node, or broken off. */
export function toProxyError(peer: string, error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof NodeAwayError) return awayError(error);
  const code = errorCode(error) ?? '';
  if (/^UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT$/.test(code)) {
    return new StatusError('Timeout', `${peer} did not answer in time`, { cause: error });
  }
  return badGateway(`${peer} broke off: ${describeError(error)}`, error);
}

function awayError(error: NodeAwayError): StatusError {
  switch (error.reason) {
    case 'late':
      return new StatusError('Timeout', error.message, { cause: error });
    case 'untrusted':
      return badGateway(error.message, error);
    case 'away':
      return new StatusError('ServiceUnavailable', error.message, { cause: error });
  }
}

/** 502; as in the reference, without a reason. */
export function badGateway(message: string, cause?: unknown): StatusError {
  return new StatusError('', message, { code: 502, ...(cause === undefined ? {} : { cause }) });
}
