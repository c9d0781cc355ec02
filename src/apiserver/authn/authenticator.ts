import type { TLSSocket } from 'node:tls';
import type { User } from './user.ts';

/** What a request brings along to say who sent it. */
export interface Credentials {
  /** Its connection, with the certificate of the client. */
  socket: TLSSocket;
  /** Of `Authorization: Bearer` (RFC 6750); undefined where there is none. */
  token: string | undefined;
  /** Whether it has an `Authorization` header at all. */
  presented: boolean;
}

/** Who is behind a request, as its credential says. */
export interface Identity {
  user: User;
  /** Whose credential it really is, where that one is to be taken for `user`. */
  impersonator?: User;
  /** When the credential ends: wall clock, milliseconds. */
  untilMs: number;
}

/** Tells who is behind a request; undefined when nobody can be told. */
export interface Authenticator {
  authenticate(credentials: Credentials): Identity | undefined | Promise<Identity | undefined>;
}

/**
 * Asks one after the other; the first that knows somebody decides, whatever else the request brings along. Answers at
 * once as long as all that are asked do.
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
