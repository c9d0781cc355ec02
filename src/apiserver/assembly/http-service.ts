import type { Service } from '../../base/index.ts';
import { untilAborted } from '../../base/index.ts';
import type { HttpOptions } from '../http/index.ts';
import { HttpServer } from '../http/index.ts';
import type { CachedStore } from '../storage/index.ts';

export interface HttpServiceOptions {
  /** An IP address. */
  address: string;
  /** 0: the system chooses. */
  port: number;
  dependsOn: readonly string[];
  storage: CachedStore;
  http: HttpOptions;
  /** Called with the port once the server listens. */
  onListening(port: number): void | Promise<void>;
}

/** How long running requests may take to finish when the server stops. */
const graceMs = 2000;

export interface HttpService extends Service {
  /** Serves new connections with another certificate; does nothing while it does not serve. */
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
      server = new HttpServer(options.http);
      try {
        const port = await server.listen({
          who: 'the API',
          address: options.address,
          port: options.port,
          addressSetting: '--bind-address',
          portSetting: '--secure-port',
        });
        await options.onListening(port);
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
