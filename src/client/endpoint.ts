import { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { createSecureContext } from 'node:tls';
import { describeError, ExitError, exitCodes } from '../base/index.ts';
import type { ClientOptions } from './options.ts';

/** The validated address of a server and the credentials for it. */
export interface Endpoint {
  /** For messages: as given, without trailing slashes. */
  server: string;
  /** `https://host:port` */
  origin: string;
  /** Prefix of every path; usually empty. */
  pathPrefix: string;
  secureContext: SecureContext;
  serverName: string | undefined;
  authorization: string | undefined;
}

/** Throws an ExitError that names the option that cannot be used. */
export function readEndpoint(options: ClientOptions): Endpoint {
  const server = options.server.replace(/\/+$/, '');
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:' || url.username || url.password || url.search || url.hash) {
    throw optionError(`the server must be an address like https://host:port, not ${JSON.stringify(server)}`);
  }
  const { token } = options;
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw optionError(`the token for ${server} is empty or has characters that no token has`);
  }
  return {
    server,
    origin: url.origin,
    pathPrefix: url.pathname === '/' ? '' : url.pathname,
    secureContext: createContext(server, options),
    serverName: options.serverName,
    authorization: token === undefined ? undefined : `Bearer ${token}`,
  };
}

function createContext(server: string, { ca, cert, key }: ClientOptions): SecureContext {
  try {
    new X509Certificate(ca); // the TLS library silently accepts a PEM without a certificate
  } catch (error) {
    throw optionError(`the certificate authority for ${server} is no certificate in PEM`, error);
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw optionError(`a client certificate for ${server} needs both, certificate and key`);
  }
  try {
    return createSecureContext({
      ca,
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    });
  } catch (error) {
    throw optionError(
      `the client certificate and key for ${server} cannot be used: ${describeError(error)}`,
      error,
    );
  }
}

function optionError(message: string, cause?: unknown): ExitError {
  return new ExitError(exitCodes.configuration, message, { cause });
}
