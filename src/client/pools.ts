import type { Pool } from 'undici';
import type { Connector } from './connector.ts';
import { createConnector } from './connector.ts';
import type { Endpoint } from './endpoint.ts';

/** All connections to one server, from one reset to the next. */
export interface Pools {
  readonly connector: Connector;
  readonly ready: Promise<{ calls: Pool; watches: Pool }>;
  /** Ends every connection, those being made too. */
  destroy(): void;
}

export interface PoolsOptions {
  connections: number;
  connectTimeoutMs: number;
}

/** Idle connections are kept as long as Go's clients keep them, unless the server says how long it does. */
const keepAliveTimeout = 90_000;

/**
 * A watch occupies a connection for as long as it lives, so watches have a pool without bounds of their own. The HTTP
 * library is loaded here: a process that only renders a kubeconfig does not need it.
 */
export function openPools(endpoint: Endpoint, { connections, connectTimeoutMs }: PoolsOptions): Pools {
  const connector = createConnector(endpoint, connectTimeoutMs);
  const ready = import('undici').then(({ Pool }) => {
    const common = { connect: connector.connect, allowH2: false, pipelining: 1, keepAliveTimeout };
    return {
      calls: new Pool(endpoint.origin, { ...common, connections }),
      watches: new Pool(endpoint.origin, common),
    };
  });
  return {
    connector,
    ready,
    destroy() {
      void ready.then(({ calls, watches }) => Promise.allSettled([calls.destroy(), watches.destroy()]));
      connector.destroyAll();
    },
  };
}
