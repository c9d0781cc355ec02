import type { Service } from '../../base/index.ts';
import { describeError, ExitError, errorCode, exitCodes, untilAborted } from '../../base/index.ts';
import type { HttpOptions, HttpServer } from '../http/index.ts';
import { createHttpServer } from '../http/index.ts';
import type { CachedStore } from '../storage/index.ts';

export interface HttpServiceOptions {
  address: string;
  port: number;
  dependsOn: readonly string[];
  storage: CachedStore;
  http: HttpOptions;
  /** Told the port once the server listens. */
  onListening(port: number): void | Promise<void>;
}

/** How long running requests may take to finish when the server stops. */
const graceMs = 2000;

export interface HttpService extends Service {
  /** Shows new connections another certificate; nothing to do while it does not serve. */
  renew(tls: HttpOptions['tls']): void;
}

/** Serves the API; stops by refusing what is new, ending the watches, and letting the rest finish. */
export function httpService(options: HttpServiceOptions): HttpService {
  let server: HttpServer | undefined;
  return {
    name: 'http',
    dependsOn: options.dependsOn,
    onFailure: 'stop',
    renew: (tls) => server?.renew(tls),
    async run(signal, ready) {
      server = createHttpServer(options.http);
      try {
        await options.onListening(await listen(server, options));
        ready();
        await untilAborted(signal);
      } finally {
        const closed = server.close(graceMs);
        options.storage.endWatches();
        await closed;
      }
    },
  };
}

async function listen(server: HttpServer, options: HttpServiceOptions): Promise<number> {
  try {
    return await server.listen(options.address, options.port);
  } catch (error) {
    throw listenError(error, options);
  }
}

function listenError(error: unknown, { address, port }: HttpServiceOptions): ExitError {
  const place = `${address}:${port}`;
  switch (errorCode(error)) {
    case 'EADDRINUSE':
      return new ExitError(
        exitCodes.address,
        `the API cannot listen on ${place}: another process uses that port; choose another with --secure-port`,
      );
    case 'EADDRNOTAVAIL':
      return new ExitError(
        exitCodes.address,
        `the API cannot listen on ${place}: this machine has no such address; choose another with --bind-address`,
      );
    case 'EACCES':
      return new ExitError(
        exitCodes.address,
        `the API cannot listen on ${place}: this user may not use that port; choose one above 1023 with --secure-port`,
      );
    default:
      return new ExitError(exitCodes.address, `the API cannot listen on ${place}: ${describeError(error)}`);
  }
}
