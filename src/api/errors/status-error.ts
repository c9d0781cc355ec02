import { ReasonError } from '../../base/index.ts';
import type { ListMeta, Status, StatusDetails } from '../kinds/index.ts';

/** Machine-readable reasons why a request failed, each with its HTTP status. docs/errors.md lists them. */
export const statusReasons = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  ServerTimeout: 500,
  Timeout: 504,
} as const;
export type StatusReason = keyof typeof statusReasons;

/** A failure that the server reports to a client, or a client received from a server. Branch on `reason`, never on the text. */
export class StatusError extends ReasonError<StatusReason | ''> {
  override readonly name = 'StatusError';
  readonly code: number;
  readonly details: StatusDetails | undefined;
  /** Has the `continue` token with which a failed list can go on. */
  readonly metadata: ListMeta;

  /** `reason` is empty where a server gave none, or one that this program does not know. */
  constructor(
    reason: StatusReason | '',
    message: string,
    options: { code?: number; details?: StatusDetails; metadata?: ListMeta; cause?: unknown } = {},
  ) {
    super(reason, message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = options.code ?? (reason === '' ? 500 : statusReasons[reason]);
    this.details = options.details;
    this.metadata = options.metadata ?? {};
  }

  /** The body of the answer. */
  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** The error for a received Status. */
export function fromStatus(status: Status, httpCode: number): StatusError {
  const reason = isReason(status.reason) ? status.reason : '';
  return new StatusError(reason, status.message ?? `the server answered ${httpCode}`, {
    code: status.code || httpCode,
    ...(status.details === undefined ? {} : { details: status.details }),
    ...(status.metadata === undefined ? {} : { metadata: status.metadata }),
  });
}

function isReason(value: string | undefined): value is StatusReason {
  return value !== undefined && Object.hasOwn(statusReasons, value);
}
