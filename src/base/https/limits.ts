/** The limits of a server. None of them bounds how long a handler may take. */
export interface HttpsLimits {
  /** Connections at once; a further one is closed at once. Default 1000. */
  readonly maxConnections: number;
  /**
   * Connections whose clients have not been authenticated (`reportAuthenticated`, or a certificate that was verified). Beyond
   * it one of the source that has most of them is cut. Default: not limited.
   */
  readonly maxUnauthenticated: number;
  /** How long a handshake may go without a byte from the client. Default 10 s. */
  readonly handshakeIdleMs: number;
  /** How long a whole handshake may take, however many bytes come. Default: not limited. */
  readonly handshakeMs: number;
  /** From the first byte of a connection, or the end of the request before, to the end of a head. Default 20 s. */
  readonly headMs: number;
  /** From the same moment to the end of the body. Default 60 s. */
  readonly requestMs: number;
  /** How often `headMs` and `requestMs` are checked. Default 30 s. */
  readonly checkMs: number;
  /** How long a connection may be idle. Default 120 s: Go's clients drop theirs after 90 s and must be first. */
  readonly idleMs: number;
  /** How long an answer over HTTP/1.1 may wait without the client reading any of it. Default: not limited. */
  readonly stallMs: number;
  /** Unanswered requests of one HTTP/1.1 connection; a client that pipelines more is cut off. Default: not limited. */
  readonly maxPipelined: number;
  /** All headers of a request over HTTP/1.1. Default 16 KiB. */
  readonly maxHeadBytes: number;
  /** Default 1 MiB. */
  readonly maxBodyBytes: number;
  /** One parameter in a path, in characters. Default 512. */
  readonly maxParameterLength: number;
  /** Idle time after which TCP checks that the client's machine still answers. Default: it does not check. */
  readonly tcpKeepAliveMs: number | undefined;
}

export const defaultLimits: HttpsLimits = {
  maxConnections: 1000,
  maxUnauthenticated: Number.POSITIVE_INFINITY,
  handshakeIdleMs: 10_000,
  handshakeMs: Number.POSITIVE_INFINITY,
  headMs: 20_000,
  requestMs: 60_000,
  checkMs: 30_000,
  idleMs: 120_000,
  stallMs: Number.POSITIVE_INFINITY,
  maxPipelined: Number.POSITIVE_INFINITY,
  maxHeadBytes: 16 * 1024,
  maxBodyBytes: 1024 * 1024,
  maxParameterLength: 512,
  tcpKeepAliveMs: undefined,
};
