import { StatusError } from '../../api/index.ts';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { createLatest, readRegularFile, writeFileAtomic } from '../../base/index.ts';
import type { Pair } from '../../base/x509/index.ts';
import { findFault, readPair } from '../../base/x509/index.ts';
import type { ClientOptions } from '../../client/index.ts';
import { ApiClient, renderKubeconfig } from '../../client/index.ts';
import type { Identity, ServingCredentials } from './credentials.ts';
import { nodeSubject, publishApi, publishServing } from './credentials.ts';
import { serveWithEarlier } from './earlier-serving.ts';
import { obtainPair } from './obtain.ts';
import { remoteRetry, servingPair } from './remote.ts';
import { minLeft, renewalService } from './renewal.ts';
import { signThroughApi } from './signing-request.ts';

export interface JoinedIdentityOptions {
  nodeName: string;
  certDir: string;
  /** Every name and address under which this node is reached, now. */
  addresses(): readonly string[];
  /** How the control plane is reached, with credentials that are good for asking for the first certificate. */
  bootstrap: ClientOptions;
  /** Where the agent's own kubeconfig is written (0600), for whoever calls the agent or the API in its name. */
  kubeconfig: string;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

const clientName = 'nodeward-client';
const kubeconfigLimitBytes = 1024 * 1024;

/**
 * The service `identity` of an agent that joins a remote control plane: with a token it asks for its first client
 * certificate through the certificates API, and with each certificate for the next one, so that the token is needed
 * once. The serving certificate comes the same way. Ready at once, for the control plane may be away.
 */
export function joinedIdentity(options: JoinedIdentityOptions): Service & Identity {
  const { nodeName, certDir, bootstrap, kubeconfig, clock, log } = options;
  const api = createLatest<ClientOptions>();
  const serving = createLatest<ServingCredentials>();
  const subject = nodeSubject(nodeName);
  const expected = { authority: bootstrap.ca, use: 'client' as const };

  /** With the certificate on disk while it is good, however little of its life is left; else what it began with. */
  async function asking(): Promise<ClientOptions> {
    const found = await readPair(certDir, clientName).catch(() => undefined);
    const isGood = found && findFault(found, { ...expected, subject, now: clock.now() }) === undefined;
    return isGood ? clientOf(bootstrap, found) : bootstrap;
  }

  async function clientPair(signal: AbortSignal): Promise<Pair> {
    return await obtainPair({
      folder: certDir,
      name: clientName,
      subject,
      expected: { ...expected, minLeft },
      async sign(csrPem) {
        const place = await asking();
        await using client = new ApiClient(place);
        try {
          return await signThroughApi({ api: client, clock, log }, csrPem, signal, 'client');
        } catch (error) {
          throw place === bootstrap && isUnauthorized(error) ? tokenRefused(error) : error;
        }
      },
      clock,
      log,
    });
  }

  async function refresh(signal: AbortSignal): Promise<readonly string[]> {
    const pair = await clientPair(signal);
    const own = clientOf(bootstrap, pair);
    await keepKubeconfig(kubeconfig, own, `system:node:${nodeName}`);
    publishApi(api, own);
    await using client = new ApiClient(own);
    const served = await servingPair({ ...options, ca: bootstrap.ca, api: client }, signal);
    publishServing(serving, { pair: served, clientCa: bootstrap.ca });
    return [pair.cert, served.cert];
  }

  const service = renewalService({
    name: 'identity',
    dependsOn: options.dependsOn,
    clock,
    log,
    refresh,
    readyAfterFirst: false,
    prepare: () => serveWithEarlier({ ...options, ca: bootstrap.ca, serving }),
    retry: remoteRetry,
  });
  return { ...service, api, serving };
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'Unauthorized';
}

function tokenRefused(cause: unknown): Error {
  const why = 'the control plane does not know the credentials in the bootstrap kubeconfig';
  const todo = 'a token may have expired or been deleted, nodeward token create makes another';
  return new Error(`${why}: ${todo}`, { cause });
}

/** The same server, as whoever holds this certificate alone. */
function clientOf({ token: _token, ...place }: ClientOptions, { cert, key }: Pair): ClientOptions {
  return { ...place, cert, key };
}

/** A file that says the same already is left alone. */
async function keepKubeconfig(path: string, client: ClientOptions, user: string): Promise<void> {
  const text = renderKubeconfig({ ...client, user });
  const found = await readRegularFile(path, { limitBytes: kubeconfigLimitBytes }).catch(() => undefined);
  if (found?.toString('utf8') !== text) await writeFileAtomic(path, text);
}
