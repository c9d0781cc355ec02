import { describeError, errorCode } from '../../base/index.ts';
import { podLookups } from './name-lookups.ts';
import { joinHostPort } from './types.ts';

const faults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  EHOSTDOWN: 'connect: host is down',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  ETIMEDOUT: 'connect: connection timed out',
  EACCES: 'connect: permission denied',
};

const lookupFaults: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'Temporary failure in name resolution',
  ETIMEOUT: 'i/o timeout',
};

/** Where a connection has not been made in time. */
export function describeDialTimeout(host: string, port: number): string {
  if (podLookups.isUnderWay(host)) return `dial tcp: lookup ${host}: i/o timeout`;
  return `dial tcp ${joinHostPort(host, port)}: i/o timeout`;
}

/** Why a connection to `address` was not made, in the reference's words; undefined for an error that is of something else. */
export function describeDialFault(error: unknown, address: string): string | undefined {
  const code = errorCode(error) ?? '';
  const lookupFault = lookupFaults[code];
  if (lookupFault !== undefined)
    return `dial tcp: lookup ${address.slice(0, address.lastIndexOf(':'))}: ${lookupFault}`;
  const fault = faults[code];
  return fault === undefined ? undefined : `dial tcp ${address}: ${fault}`;
}

/** The same for a connection that broke: without the local port, so that what happens again says the same. */
export function describeConnectionFault(error: unknown, address: string): string {
  const code = errorCode(error) ?? '';
  const isHungUp = code === 'ECONNRESET' && error instanceof Error && error.message === 'socket hang up';
  if (isHungUp) return 'EOF';
  if (code === 'ECONNRESET') return `read tcp ${address}: read: connection reset by peer`;
  if (isPlainAnswer(error)) return 'http: server gave HTTP response to HTTPS client';
  const fault = findTlsFault(error);
  if (fault !== undefined) return `remote error: tls: ${fault}`;
  if (code === 'EPIPE') return `write tcp ${address}: write: broken pipe`;
  return describeDialFault(error, address) ?? describeError(error);
}

/** Whether a server that was asked over TLS answered without. */
export function isPlainAnswer(error: unknown): boolean {
  return ['wrong version number', 'packet length too long', 'http request'].includes(
    findTlsFault(error) ?? '',
  );
}

/** What OpenSSL found, such as `wrong version number`: beside it stand addresses in memory, which differ each time. */
function findTlsFault(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return /:SSL routines:[^:]*:([^:]{1,100}):/.exec(error.message)?.[1];
}
