import { describeError, errorCode, ReasonError } from '../base/index.ts';

/**
 * Why there is no response of a server: `refused` (nothing listens), `timeout`, `untrusted` (its certificate), `rejected`
 * (it does not accept ours), `unknownHost`, `unreachable` (no route), `unintelligible` (it sent something that is not a
 * response of this API), `broken` for everything else.
 */
export type ConnectionFailure =
  | 'refused'
  | 'timeout'
  | 'untrusted'
  | 'rejected'
  | 'unknownHost'
  | 'unreachable'
  | 'unintelligible'
  | 'broken';

/** A request without a response. It may or may not have had its effect. */
export class ConnectionError extends ReasonError<ConnectionFailure> {
  override readonly name = 'ConnectionError';
}

type FailurePattern = readonly [
  codes: RegExp,
  reason: ConnectionFailure,
  describe: (server: string) => string,
];

/** The first one that matches counts. */
const failurePatterns: readonly FailurePattern[] = [
  [/^ECONNREFUSED$/, 'refused', (server) => `${server} refuses connections: nothing listens there`],
  [
    /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/,
    'timeout',
    (server) => `${server} did not answer in time`,
  ],
  [/^(ENOTFOUND|EAI_\w+)$/, 'unknownHost', (server) => `the name of ${server} cannot be found`],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'unreachable', (server) => `there is no way to ${server}`],
  [/^ERR_TLS_CERT_ALTNAME/, 'untrusted', (server) => `${server} shows a certificate that is for other names`],
  [
    /^CERT_HAS_EXPIRED$/,
    'untrusted',
    (server) => `${server} shows a certificate that has expired, by this machine's clock`,
  ],
  [
    /^CERT_NOT_YET_VALID$/,
    'untrusted',
    (server) => `${server} shows a certificate that is not valid yet, by this machine's clock`,
  ],
  [
    /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED)/,
    'untrusted',
    (server) => `${server} shows a certificate of another authority than the expected one`,
  ],
  [
    /^(CERT_|CRL_|INVALID_|PATH_LENGTH)/,
    'untrusted',
    (server) => `${server} shows a certificate that is not accepted`,
  ],
  [
    /^ERR_SSL_.*ALERT_.*(CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)/,
    'rejected',
    (server) => `${server} does not accept the client certificate, or wants one`,
  ],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|INVALID_\w+|RECORD_\w+)$/,
    'unintelligible',
    (server) => `${server} does not speak TLS`,
  ],
];

/** Describes in one sentence what went wrong with a request to `server`. */
export function toConnectionError(server: string, error: unknown): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const code = errorCode(error) ?? '';
  const [, reason, describe] = failurePatterns.find(([codes]) => codes.test(code)) ?? broken;
  return new ConnectionError(reason, `${describe(server)} (${detailOf(error, code)})`, { cause: error });
}

/** The messages of OpenSSL contain positions in its source code; its reasons do not. */
function detailOf(error: unknown, code: string): string {
  const isPlain = code.startsWith('ERR_SSL_') && error instanceof Error && 'reason' in error;
  return isPlain ? String(error.reason) : describeError(error);
}

const broken: FailurePattern = [/./, 'broken', (server) => `the connection to ${server} broke`];

export function timeoutError(server: string, timeoutMs: number): ConnectionError {
  return new ConnectionError('timeout', `${server} did not answer within ${timeoutMs / 1000} s`);
}

/** `what`: what the server sent instead of a response of this API. */
export function unintelligibleError(server: string, what: string, cause?: unknown): ConnectionError {
  return new ConnectionError('unintelligible', `${server} sent ${what}`, { cause });
}
