import { inspect } from 'node:util';

/** Exit codes of the command, kept stable; docs/errors.md lists them with what to do. */
export const exitCodes = {
  ok: 0,
  /** The operation was understood and failed. */
  failed: 1,
  /** Wrong flags or arguments. */
  usage: 2,
  /** The configuration or a file named in it cannot be used. */
  configuration: 3,
  /** Another process holds the lock file or the store. */
  locked: 4,
  /** An address or port cannot be bound. */
  address: 5,
  /** A folder or file cannot be written. */
  unwritable: 6,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A failure that is printed to the operator as it is: one message, no stack trace. */
export class ExitError extends Error {
  override readonly name = 'ExitError';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** A failure whose reason is for programs and whose message is for people. */
export class ReasonError<Reason extends string> extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** How deep a chain of causes is followed; this ends circular ones too. */
const maxCauses = 8;

/** The message of anything that was thrown, followed by those of its causes. */
export function describeError(error: unknown): string {
  return describe(error, maxCauses);
}

function describe(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : inspect(error, { depth: 1 });
  if (depth === 0) return '…';
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map((inner) => describe(inner, depth - 1)).join('; ') || error.name;
  }
  const message = error.message || error.name;
  const { cause } = error;
  if (cause === undefined || cause === null) return message;
  if (cause instanceof Error && cause.message !== '' && message.includes(cause.message)) return message;
  return `${message}: ${describe(cause, depth - 1)}`;
}

/** The system's error code (`ENOENT`, `EADDRINUSE` …) of an error or of one of its causes. */
export function errorCode(error: unknown): string | undefined {
  let here = error;
  for (let depth = 0; depth < maxCauses && here instanceof Error; depth++) {
    if ('code' in here && typeof here.code === 'string') return here.code;
    here = here.cause;
  }
  return undefined;
}
