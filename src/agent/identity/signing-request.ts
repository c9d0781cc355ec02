import type { CertificateSigningRequest } from '../../api/index.ts';
import { certificateSigningRequestKind, nodeSignerNames, StatusError } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import { createBackoff, describeError } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { ConnectionError } from '../../client/index.ts';

export interface SigningOptions {
  api: Pick<ApiClient, 'create' | 'get'>;
  clock: Clock;
  log: Logger;
  /** Called with what the request waits for, in words; default: nothing. */
  onWaiting?(what: string): void;
}

const namePrefix = 'csr-';

/** What is waited for, the same for every request: each attempt makes one of another name. */
export function withoutRequestNames(what: string): string {
  return what.replaceAll(new RegExp(`\\b${namePrefix}[a-z0-9]+\\b`, 'g'), namePrefix);
}

/** How long to wait for one request; an operator may have to approve it. */
const requestTimeoutMs = 15 * 60_000;
const poll = { initialMs: 200, maxMs: 15_000, jitter: 0.1 };

/**
 * Has a certificate signed through the certificates API (signers kubernetes.io/kubelet-serving and
 * kubernetes.io/kube-apiserver-client-kubelet) and returns it, PEM. It waits through outages of the API. Rejects when the
 * request is refused, is deleted, or is not answered within 15 minutes, and when `signal` aborts.
 */
export async function signThroughApi(
  options: SigningOptions,
  csrPem: string,
  signal: AbortSignal,
  use: 'client' | 'serving' = 'serving',
): Promise<string> {
  const { api, clock, log } = options;
  const request: CertificateSigningRequest = {
    metadata: { generateName: namePrefix },
    spec: {
      request: Buffer.from(csrPem).toString('base64'),
      signerName: nodeSignerNames[use],
      usages: ['digital signature', use === 'serving' ? 'server auth' : 'client auth'],
    },
  };
  const created = await api.create(certificateSigningRequestKind, request, { signal });
  const name = created.metadata?.name ?? '';
  const wait = (why: string | undefined) => options.onWaiting?.(describeWait(name, use, why));
  wait(undefined);
  log.info({ request: name }, `waiting for the ${use} certificate to be signed`);
  const backoff = createBackoff(poll);
  const endMs = clock.monotonicMs() + requestTimeoutMs;
  let logged: string | undefined;
  while (clock.monotonicMs() < endMs) {
    signal.throwIfAborted();
    const { certificate, why } = await readRequest(options, name, signal);
    if (certificate !== undefined) return certificate;
    if (why !== undefined && why !== logged)
      log.warn({ request: name }, `the ${use} certificate is not signed yet: ${why}`);
    if (why !== undefined) wait(why);
    logged = why ?? logged;
    await clock.sleep(backoff.next(), signal);
  }
  throw new Error(
    `nobody has answered the certificate request ${name}; approve the next one with: kubectl certificate approve NAME`,
  );
}

function describeWait(name: string, use: 'client' | 'serving', why: string | undefined): string {
  const reason = why === undefined ? '' : ` (${why})`;
  return `the request ${name} for its ${use} certificate waits for approval${reason}: kubectl certificate approve ${name}`;
}

/** Returns the certificate once it is signed; before, the reason that the control plane gives for waiting. */
async function readRequest(
  { api, log }: SigningOptions,
  name: string,
  signal: AbortSignal,
): Promise<{ certificate?: string; why?: string | undefined }> {
  try {
    const { status } = await api.get(certificateSigningRequestKind, name, { signal });
    if (status?.certificate)
      return { certificate: Buffer.from(status.certificate, 'base64').toString('utf8') };
    const refusal = status?.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (refusal === undefined)
      return { why: status?.conditions?.find(({ type }) => type === 'Waiting')?.message };
    const why = refusal.message || refusal.reason || refusal.type;
    throw new Error(`the certificate request ${name} was refused: ${why}`);
  } catch (error) {
    if (signal.aborted || !isOutage(error)) throw error;
    log.debug({ request: name }, `cannot look at the certificate request: ${describeError(error)}`);
    return {};
  }
}

/** Whether an error says nothing about the request itself. */
function isOutage(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof StatusError && (error.code >= 500 || error.code === 429);
}
