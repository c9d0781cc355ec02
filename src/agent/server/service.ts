import type { AddressInfo } from 'node:net';
import type { Clock, Latest, Logger, Registry, Service } from '../../base/index.ts';
import {
  createLatest,
  describeError,
  ExitError,
  errorCode,
  exitCodes,
  untilAborted,
} from '../../base/index.ts';
import type { Checkpointer } from '../checkpoint/index.ts';
import type { Identity, ServingCredentials } from '../identity/index.ts';
import { followConnections } from './connections.ts';
import type { AgentHttp } from './http.ts';
import { createAgentHttp } from './http.ts';
import { secureContext } from './tls.ts';

export interface AgentServerOptions {
  address: string;
  /** 0: the system chooses. */
  port: number;
  serving: Identity['serving'];
  checkpointer: Pick<Checkpointer, 'checkpoint'>;
  /** The gate ContainerCheckpoint. */
  checkpointEnabled: boolean;
  /** Whether whoever has a certificate of the authority may do everything, now; else only `system:masters`. */
  anyCertificate(): boolean;
  /** What `/configz` answers, as JSON; without secrets. */
  configz(query: URLSearchParams): unknown;
  dependsOn: readonly string[];
  metrics: Registry;
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
  const { address, serving, clock, log } = options;
  const port = createLatest<number>();

  return {
    name: 'server',
    dependsOn: options.dependsOn,
    onFailure: 'stop',
    port,
    async run(signal, ready) {
      const app = createAgentHttp({ ...options, stopping: signal });
      const connections = followConnections(app.server);
      let shown: ServingCredentials | undefined;

      function show(next: ServingCredentials): void {
        app.server.setSecureContext(secureContext(next));
        log.info(
          { address, port: port.value },
          shown ? 'serving with a new certificate' : 'the agent serves',
        );
        if (shown !== undefined && shown.clientCa !== next.clientCa) connections.destroy();
        shown = next;
      }

      try {
        await listen(app, address, options.port);
        port.set(portOf(app.server.address()));
        using _follow = serving.onChange(show);
        if (serving.value !== undefined) show(serving.value);
        ready();
        await untilAborted(signal);
      } finally {
        await connections.closeWithin(app.close(), graceMs, clock);
      }
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

function listenError(error: unknown, address: string, port: number): ExitError {
  const place = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another process uses that port; choose another with --port',
    EADDRNOTAVAIL: 'this machine has no such address; choose another with --address',
    EACCES: 'this user may not use that port; choose one above 1023 with --port',
  };
  const told = why[errorCode(error) ?? ''] ?? describeError(error);
  return new ExitError(exitCodes.address, `the agent cannot listen on ${place}: ${told}`);
}
