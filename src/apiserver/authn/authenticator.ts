import type { TLSSocket } from 'node:tls';
import type { User } from './user.ts';

/** The credentials of a request. */
export interface Credentials {
  /** Its connection, with the certificate of the client. */
  socket: TLSSocket;
  /** Of `Authorization: Bearer` (RFC 6750); undefined where there is none. */
  token: string | undefined;
  /** Whether it has an `Authorization` header at all. */
  presented: boolean;
}

/** The identity of a request's sender, by its credential. */
export interface Identity {
  user: User;
  /** The owner of the credential, when they impersonate `user`. */
  impersonator?: User;
  /** When the credential expires: wall clock, milliseconds. */
  untilMs: number;
  /** What the audit log is to say of the credential. */
  annotations?: Readonly<Record<string, string>>;
}

/** Identifies the sender of a request; undefined when it knows none of the credentials. */
export interface Authenticator {
  authenticate(credentials: Credentials): Identity | undefined | Promise<Identity | undefined>;
}

/**
 * Asks the authenticators in order; the first that identifies a user decides, whatever other credentials the request has.
 * Returns without a promise as long as all authenticators that are asked do.
 */
export function authenticatorChain(authenticators: readonly Authenticator[]): Authenticator {
  function ask(credentials: Credentials, from: number): ReturnType<Authenticator['authenticate']> {
    const answer = authenticators[from]?.authenticate(credentials);
    if (answer instanceof Promise) return answer.then((identity) => identity ?? askNext());
    return answer ?? askNext();

    function askNext() {
      return from + 1 < authenticators.length ? ask(credentials, from + 1) : undefined;
    }
  }
  return { authenticate: (credentials) => ask(credentials, 0) };
}
