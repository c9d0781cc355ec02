import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Latest, Logger, Service } from '../../base/index.ts';
import { createLatest, untilAborted } from '../../base/index.ts';
import type { Identity, ServingCredentials } from '../identity/index.ts';
import type { Access } from './access/index.ts';
import type { Connections } from './connections.ts';
import { followConnections } from './connections.ts';
import type { AgentHttp } from './http.ts';
import { createAgentHttp } from './http.ts';
import type { ServerLimits } from './limits.ts';
import { serverLimits } from './limits.ts';
import { listenError } from './listen.ts';
import type { AgentRoute } from './route.ts';
import type { TlsSettings } from './tls.ts';
import { secureContext } from './tls.ts';

export interface AgentServerOptions {
  address: string;
  /** 0: the system chooses. */
  port: number;
  serving: Identity['serving'];
  /** False: nothing is served, and no port is taken. */
  enabled: boolean;
  /** How new connections are secured, now. */
  tls(): TlsSettings;
  /** Calls `listener` when that may have changed, until disposed of. */
  onSettings(listener: () => void): Disposable;
  /** What is served where. */
  routes: readonly AgentRoute[];
  access: Access;
  /** Default `serverLimits`. */
  limits?: Partial<ServerLimits>;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

export interface AgentServerService extends Service {
  /** The port it has; comes when the port is taken, before certificates are there. */
  readonly port: Latest<number>;
}

/** How long answers under way may take when the agent stops; checkpoints are cancelled by then. */
const graceMs = 2000;

/**
 * The service `server`: the agent's HTTPS API. It listens, and is ready, from the start, so that a port in use is told at
 * once (ExitError); handshakes succeed as soon as there is a certificate, which with a remote control plane may come
 * later. A new certificate is shown to new connections; a new authority ends all that the old one has admitted.
 */
export function agentServer(options: AgentServerOptions): AgentServerService {
  const { address, serving, clock } = options;
  const port = createLatest<number>();
  const limits = { ...serverLimits, ...options.limits };

  return {
    name: 'server',
    dependsOn: options.dependsOn,
    onFailure: 'stop',
    port,
    async run(signal, ready) {
      if (!options.enabled) {
        ready();
        return await untilAborted(signal);
      }
      const app = createAgentHttp({ ...options, limits, stopping: signal });
      const connections = followConnections(app.server, clock, limits);
      const shown = shownCertificate(app, connections, options);
      try {
        await listen(app, address, options.port);
        port.set(portOf(app.server.address()));
        using _follow = serving.onChange(shown.show);
        using _settings = options.onSettings(() => serving.value !== undefined && shown.show(serving.value));
        if (serving.value !== undefined) shown.show(serving.value);
        ready();
        await untilAborted(signal);
      } finally {
        await connections.closeWithin(app.close(), graceMs, clock);
      }
    },
  };
}

/** What the server shows to new connections: the newest certificate, secured as the configuration says. */
function shownCertificate(
  app: AgentHttp,
  connections: Pick<Connections, 'destroy'>,
  { address, tls, log }: Pick<AgentServerOptions, 'address' | 'tls' | 'log'>,
) {
  let shown: { credentials: ServingCredentials; tls: TlsSettings } | undefined;
  return {
    show(credentials: ServingCredentials): void {
      const next = { credentials, tls: tls() };
      if (isDeepStrictEqual(next, shown)) return;
      app.server.setSecureContext(secureContext(credentials, next.tls));
      const at = portOf(app.server.address());
      log.info({ address, port: at }, shown ? 'serving with a new certificate' : 'the agent serves');
      // whom another authority has admitted is no longer known
      if (shown !== undefined && shown.credentials.clientCa !== credentials.clientCa) connections.destroy();
      shown = next;
    },
  };
}

async function listen(app: AgentHttp, host: string, port: number): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error, host, port);
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (typeof address === 'object' && address !== null) return address.port;
  throw new Error('the server listens on no port');
}
