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
  /** Every name and address under which this node is reached, now. */
  addresses(): readonly string[];
  /** What the kubeconfig says: the agent's own credentials towards the API, which may be replaced. */
  credentials: Latest<ClientOptions>;
  /** Makes a client of these for the certificates API. */
  open: (client: ClientOptions) => CertificatesApi;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

export type CertificatesApi = Pick<ApiClient, 'create' | 'get'> & AsyncDisposable;

/** Each try leaves a request behind, so those that are refused again and again become rare. */
export const remoteRetry = { initialMs: 1000, maxMs: 300_000 };

/**
 * The service `identity` with a remote control plane: the kubeconfig holds the client's credentials; the serving
 * certificate is asked for through the certificates API. Ready at once, for the control plane may be away.
 */
export function remoteIdentity(options: RemoteIdentityOptions): Service & Identity {
  const { credentials, clock, log } = options;
  const serving = createLatest<ServingCredentials>();

  async function refresh(signal: AbortSignal): Promise<readonly string[]> {
    const client = await credentials.get();
    const { ca } = client;
    await using api = options.open(client);
    const pair = await servingPair({ ...options, ca, api }, signal);
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
    prepare: async () => await serveWithEarlier({ ...options, ca: (await credentials.get()).ca, serving }),
  });
  return { ...service, api: credentials, serving };
}

export type ServingOptions = Omit<RemoteIdentityOptions, 'credentials' | 'open' | 'dependsOn'> & {
  ca: string;
  api: Pick<ApiClient, 'create' | 'get'>;
};

/** The serving certificate, as the control plane signs it. */
export async function servingPair(options: ServingOptions, signal: AbortSignal): Promise<Pair> {
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
