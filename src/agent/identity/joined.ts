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
import { obtainServingPair, remoteRetry } from './remote.ts';
import { minLeft, renewalService } from './renewal.ts';
import { signThroughApi } from './signing-request.ts';

export interface JoinedIdentityOptions {
  nodeName: string;
  certDir: string;
  /** Returns the names and addresses by which this node is currently reached. */
  addresses(): readonly string[];
  /** How to reach the control plane, with credentials that may ask for the first certificate. */
  bootstrap: ClientOptions;
  /** Where the agent's own kubeconfig is written (0600), for programs that call the agent or the API in its name. */
  kubeconfig: string;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
}

const clientName = 'nodeward-client';
const kubeconfigLimitBytes = 1024 * 1024;

/**
 * The service `identity` of an agent that joins a remote control plane. With a token it asks for its first client
 * certificate through the certificates API, and with each certificate for the next one, so that the token is needed only
 * once. The serving certificate is obtained in the same way. Ready at once, as the control plane may be unreachable.
 */
export function joinedIdentity(options: JoinedIdentityOptions): Service & Identity {
  const { nodeName, certDir, bootstrap, kubeconfig, clock, log } = options;
  const api = createLatest<ClientOptions>();
  const serving = createLatest<ServingCredentials>();
  const subject = nodeSubject(nodeName);
  let waitsFor: string | undefined;
  const onWaiting = (what: string | undefined) => {
    waitsFor = what;
  };
  const expected = { authority: bootstrap.ca, use: 'client' as const };

  /**
   * Returns the credentials with which to ask for the next certificate: the client certificate on disk while it is valid,
   * even when little of its life is left, else the bootstrap credentials.
   */
  async function readAskingCredentials(): Promise<ClientOptions> {
    const found = await readPair(certDir, clientName).catch(() => undefined);
    const isGood = found && findFault(found, { ...expected, subject, now: clock.now() }) === undefined;
    return isGood ? withCertificate(bootstrap, found) : bootstrap;
  }

  async function obtainClientPair(signal: AbortSignal): Promise<Pair> {
    return await obtainPair({
      folder: certDir,
      name: clientName,
      subject,
      expected: { ...expected, minLeft },
      async sign(csrPem) {
        const place = await readAskingCredentials();
        await using client = new ApiClient(place);
        try {
          return await signThroughApi({ api: client, clock, log, onWaiting }, csrPem, signal, 'client');
        } catch (error) {
          throw place === bootstrap && isUnauthorized(error) ? createTokenError(error) : error;
        }
      },
      clock,
      log,
    });
  }

  async function refresh(signal: AbortSignal): Promise<readonly string[]> {
    const pair = await obtainClientPair(signal);
    const own = withCertificate(bootstrap, pair);
    await updateKubeconfig(kubeconfig, own, `system:node:${nodeName}`);
    publishApi(api, own);
    await using client = new ApiClient(own);
    const serverPair = await obtainServingPair(
      { ...options, ca: bootstrap.ca, api: client, onWaiting },
      signal,
    );
    publishServing(serving, { pair: serverPair, clientCa: bootstrap.ca });
    return [pair.cert, serverPair.cert];
  }

  /** What an earlier run has obtained is good without an answer of the control plane. */
  async function prepare(): Promise<void> {
    const place = await readAskingCredentials();
    if (place !== bootstrap) publishApi(api, place);
    await serveWithEarlier({ ...options, ca: bootstrap.ca, serving });
  }

  const service = renewalService({
    name: 'identity',
    dependsOn: options.dependsOn,
    clock,
    log,
    refresh,
    readyAfterFirst: false,
    prepare,
    onProblem: onWaiting,
    retry: remoteRetry,
  });
  return { ...service, api, serving, waitsFor: () => waitsFor };
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'Unauthorized';
}

function createTokenError(cause: unknown): Error {
  const why = 'the control plane does not know the credentials in the bootstrap kubeconfig';
  const todo = 'a token may have expired or been deleted, nodeward token create makes another';
  return new Error(`${why}: ${todo}`, { cause });
}

/** The same server, authenticated by this certificate alone. */
function withCertificate({ token: _token, ...place }: ClientOptions, { cert, key }: Pair): ClientOptions {
  return { ...place, cert, key };
}

/** Does not touch a file that has this content already. */
async function updateKubeconfig(path: string, client: ClientOptions, user: string): Promise<void> {
  const text = renderKubeconfig({ ...client, user });
  const found = await readRegularFile(path, { limitBytes: kubeconfigLimitBytes }).catch(() => undefined);
  if (found?.toString('utf8') !== text) await writeFileAtomic(path, text);
}
