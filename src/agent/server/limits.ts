/** What one client can take of the agent, and all together. Nothing here bounds how long an answer may be worked on. */
export interface ServerLimits {
  readonly connections: number;
  readonly handshakeMs: number;
  /** From the first byte of a connection, or the end of the request before, to the end of a head. */
  readonly headMs: number;
  /** To the end of its body. */
  readonly requestMs: number;
  /** How often these two are looked at. */
  readonly checkMs: number;
  /** Requests of one connection that are not answered yet; a client that sends more ahead is cut off. */
  readonly pipelined: number;
  /** How long an answer may lie without any of it being taken. */
  readonly stallMs: number;
  /** How long a connection may be idle. */
  readonly idleMs: number;
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** Of one parameter in a path. */
  readonly parameterLength: number;
}

export const serverLimits: ServerLimits = {
  connections: 1000,
  handshakeMs: 10_000,
  headMs: 10_000,
  requestMs: 30_000,
  checkMs: 2000,
  pipelined: 16,
  stallMs: 60_000,
  /** Go's clients drop idle connections after 90 s; it must not be the server that is first. */
  idleMs: 120_000,
  headBytes: 16 * 1024,
  bodyBytes: 1024,
  parameterLength: 512,
};
