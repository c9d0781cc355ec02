import { isDeepStrictEqual } from 'node:util';
import type { HttpsLimits, HttpsServer, TlsSettings } from '../../base/https/index.ts';
import type { Clock, Latest, Logger, Service } from '../../base/index.ts';
import { createLatest, untilAborted } from '../../base/index.ts';
import type { Identity, ServingCredentials } from '../identity/index.ts';
import type { Access } from './access/index.ts';
import { AgentHttp } from './http.ts';
import type { AgentRoute } from './route.ts';

export interface AgentServerOptions {
  address: string;
  /** 0: the system chooses. */
  port: number;
  serving: Identity['serving'];
  /** False: nothing is served, and no port is taken. */
  enabled: boolean;
  /** Returns how new connections are currently secured. */
  tls(): TlsSettings;
  /** Calls `listener` when that may have changed, until disposed of. */
  onSettings(listener: () => void): Disposable;
  /** What is served where. */
  routes: readonly AgentRoute[];
  access: Access;
  /** Over the agent's own limits. */
  limits?: Partial<HttpsLimits>;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

export interface AgentServerService extends Service {
  /** The port; set when the port is bound, before there are certificates. */
  readonly port: Latest<number>;
}

/** The limits of this server; those not listed have the defaults of every server. */
export const agentLimits = {
  maxConnections: 1000,
  maxUnauthenticated: 200,
  handshakeIdleMs: 10_000,
  handshakeMs: 10_000,
  headMs: 10_000,
  requestMs: 30_000,
  checkMs: 2000,
  maxPipelined: 16,
  stallMs: 60_000,
  maxHeadBytes: 16 * 1024,
  maxBodyBytes: 1024,
  maxParameterLength: 512,
  /** Detects a client whose machine is gone, so that its checkpoint is cancelled. */
  tcpKeepAliveMs: 15_000,
} as const satisfies Partial<HttpsLimits>;

/** How long running requests may take when the agent stops; checkpoints are cancelled by then. */
const graceMs = 2000;

/**
 * The service `server`: the agent's HTTPS API. It listens, and is ready, from the start, so that a port in use is reported
 * at once (ExitError); handshakes succeed as soon as there is a certificate, which with a remote control plane may come
 * later.
 */
export function agentServer(options: AgentServerOptions): AgentServerService {
  const port = createLatest<number>();
  return {
    name: 'server',
    dependsOn: options.dependsOn,
    onFailure: 'stop',
    port,
    async run(signal, ready) {
      if (options.enabled) return await serve(options, port, signal, ready);
      ready();
      await untilAborted(signal);
    },
  };
}

async function serve(
  options: AgentServerOptions,
  port: Latest<number>,
  signal: AbortSignal,
  ready: () => void,
): Promise<void> {
  const limits = { ...agentLimits, ...options.limits };
  const { server } = new AgentHttp({ ...options, limits, stopping: signal });
  try {
    port.set(
      await server.listen({
        who: 'the agent',
        address: options.address,
        port: options.port,
        addressSetting: '--address',
        portSetting: '--port',
      }),
    );
    const certificate = new ServingCertificate(server, options);
    using _serving = options.serving.onChange(() => certificate.update());
    using _settings = options.onSettings(() => certificate.update());
    certificate.update();
    ready();
    await untilAborted(signal);
  } finally {
    await server.close(graceMs);
  }
}

/** Keeps a server at the newest certificate and the configured TLS settings. */
class ServingCertificate {
  readonly #server: HttpsServer;
  readonly #options: Pick<AgentServerOptions, 'address' | 'serving' | 'tls' | 'log'>;
  #inUse: { credentials: ServingCredentials; tls: TlsSettings } | undefined;

  constructor(server: HttpsServer, options: Pick<AgentServerOptions, 'address' | 'serving' | 'tls' | 'log'>) {
    this.#server = server;
    this.#options = options;
  }

  update(): void {
    const { address, serving, tls, log } = this.#options;
    const credentials = serving.value;
    if (credentials === undefined) return;
    const next = { credentials, tls: tls() };
    if (isDeepStrictEqual(next, this.#inUse)) return;
    const { pair, clientCa } = credentials;
    this.#server.setCredentials({ key: pair.key, cert: pair.cert, clientCa }, next.tls);
    const { port } = this.#server;
    log.info({ address, port }, this.#inUse ? 'serving with a new certificate' : 'the agent serves');
    this.#inUse = next;
  }
}
