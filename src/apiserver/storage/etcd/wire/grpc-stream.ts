import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { constants } from 'node:http2';
import { GrpcError, grpcCodes } from './grpc-error.ts';

/** A member without a leader says so at once, instead of waiting for one. */
const common = {
  [constants.HTTP2_HEADER_METHOD]: 'POST',
  'content-type': 'application/grpc',
  te: 'trailers',
  hasleader: 'true',
};

/** One call on an HTTP/2 connection (gRPC over HTTP/2). Throws when the connection can take none. */
export function openGrpcStream(
  session: ClientHttp2Session,
  path: string,
  deadlineMs: number | null,
): ClientHttp2Stream {
  const timeout = deadlineMs === null ? {} : { 'grpc-timeout': `${Math.ceil(deadlineMs)}m` };
  return session.request(
    { ...common, [constants.HTTP2_HEADER_PATH]: path, ...timeout },
    { endStream: false },
  );
}

/** The status of a call in its headers or trailers; undefined: there is none. */
export function parseStatus(headers: IncomingHttpHeaders): GrpcError | 'ok' | undefined {
  const status = headers['grpc-status'];
  if (status === undefined) return undefined;
  const code = Number(status);
  if (code === 0) return 'ok';
  return new GrpcError(Number.isInteger(code) ? code : grpcCodes.UNKNOWN, messageIn(headers));
}

function messageIn(headers: IncomingHttpHeaders): string {
  const text = String(headers['grpc-message'] ?? 'no message');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The error of a call that ended without a status: the connection broke, or a proxy answered. */
export function createBrokenError(stream: ClientHttp2Stream, cause?: unknown): GrpcError {
  const why = cause instanceof Error ? cause.message : `the stream ended with code ${stream.rstCode}`;
  return new GrpcError(grpcCodes.UNAVAILABLE, `the connection was broken off: ${why}`, { cause });
}

/** Whether the server has refused the call without processing it. */
export function wasRefused(stream: ClientHttp2Stream): boolean {
  return stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
}
