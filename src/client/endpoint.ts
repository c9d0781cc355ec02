import { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { createSecureContext } from 'node:tls';
import { describeError, ExitError, exitCodes } from '../base/index.ts';
import type { ClientOptions } from './options.ts';

/** A server's address and the credentials for it, checked. */
export interface Endpoint {
  /** For messages: as it was given, without slashes at the end. */
  server: string;
  /** `https://host:port` */
  origin: string;
  /** In front of every path; mostly empty. */
  pathPrefix: string;
  secureContext: SecureContext;
  serverName: string | undefined;
  authorization: string | undefined;
}

/** Throws an ExitError that says what of the options cannot be used. */
export function readEndpoint(options: ClientOptions): Endpoint {
  const server = options.server.replace(/\/+$/, '');
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:' || url.username || url.password || url.search || url.hash) {
    throw unusable(`the server must be an address like https://host:port, not ${JSON.stringify(server)}`);
  }
  const { token } = options;
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw unusable(`the token for ${server} is empty or has characters that no token has`);
  }
  return {
    server,
    origin: url.origin,
    pathPrefix: url.pathname === '/' ? '' : url.pathname,
    secureContext: secureContextOf(server, options),
    serverName: options.serverName,
    authorization: token === undefined ? undefined : `Bearer ${token}`,
  };
}

function secureContextOf(server: string, { ca, cert, key }: ClientOptions): SecureContext {
  try {
    new X509Certificate(ca); // the TLS library would silently take one without any certificate
  } catch (error) {
    throw unusable(`the certificate authority for ${server} is no certificate in PEM`, error);
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw unusable(`a client certificate for ${server} needs both, certificate and key`);
  }
  try {
    return createSecureContext({
      ca,
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  } catch (error) {
    throw unusable(
      `the client certificate and key for ${server} cannot be used: ${describeError(error)}`,
      error,
    );
  }
}

function unusable(message: string, cause?: unknown): ExitError {
  return new ExitError(exitCodes.configuration, message, { cause });
}
