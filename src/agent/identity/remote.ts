import type { Clock, Latest, Logger, Service } from '../../base/index.ts';
import { createLatest } from '../../base/index.ts';
import type { Pair } from '../../base/x509/index.ts';
import { alternativeNames } from '../../base/x509/index.ts';
import type { ApiClient, ClientOptions } from '../../client/index.ts';
import type { Identity, ServingCredentials } from './credentials.ts';
import { nodeSubject, publishServing } from './credentials.ts';
import { serveWithEarlier } from './earlier-serving.ts';
import { obtainPair } from './obtain.ts';
import { minLeft, renewalService } from './renewal.ts';
import { signThroughApi } from './signing-request.ts';

export interface RemoteIdentityOptions {
  nodeName: string;
  certDir: string;
  /** Returns the names and addresses by which this node is currently reached. */
  addresses(): readonly string[];
  /** The agent's client credentials, from the kubeconfig; they may be replaced. */
  credentials: Latest<ClientOptions>;
  /** Creates a client of the certificates API. */
  open: (client: ClientOptions) => CertificatesApi;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

export type CertificatesApi = Pick<ApiClient, 'create' | 'get'> & AsyncDisposable;

/** Each attempt leaves a request object behind, so repeated refusals make attempts rare. */
export const remoteRetry = { initialMs: 1000, maxMs: 300_000 };

/**
 * The service `identity` with a remote control plane: the client's credentials are in the kubeconfig, and the serving
 * certificate is requested through the certificates API. Ready at once, as the control plane may be unreachable.
 */
export function remoteIdentity(options: RemoteIdentityOptions): Service & Identity {
  const { credentials, clock, log } = options;
  const serving = createLatest<ServingCredentials>();
  let waitsFor: string | undefined;
  const onWaiting = (what: string | undefined) => {
    waitsFor = what;
  };

  async function refresh(signal: AbortSignal): Promise<readonly string[]> {
    const client = await credentials.get();
    const { ca } = client;
    await using api = options.open(client);
    const pair = await obtainServingPair({ ...options, ca, api, onWaiting }, signal);
    publishServing(serving, { pair, clientCa: ca });
    return [pair.cert];
  }

  const service = renewalService({
    name: 'identity',
    dependsOn: options.dependsOn,
    clock,
    log,
    refresh,
    readyAfterFirst: false,
    retry: remoteRetry,
    changes: credentials,
    onProblem: onWaiting,
    prepare: async () => await serveWithEarlier({ ...options, ca: (await credentials.get()).ca, serving }),
  });
  return { ...service, api: credentials, serving, waitsFor: () => waitsFor };
}

export type ServingOptions = Omit<RemoteIdentityOptions, 'credentials' | 'open' | 'dependsOn'> & {
  ca: string;
  api: Pick<ApiClient, 'create' | 'get'>;
  /** Called with what a request waits for; default: nothing. */
  onWaiting?(what: string): void;
};

/** Obtains the serving certificate, signed by the control plane. */
export async function obtainServingPair(options: ServingOptions, signal: AbortSignal): Promise<Pair> {
  const { nodeName, certDir, ca, clock, log } = options;
  const names = alternativeNames([nodeName, ...options.addresses()]);
  return await obtainPair({
    folder: certDir,
    name: 'nodeward-serving',
    subject: nodeSubject(nodeName),
    expected: { authority: ca, use: 'server', names, minLeft },
    sign: (csrPem) => signThroughApi(options, csrPem, signal),
    clock,
    log,
  });
}
