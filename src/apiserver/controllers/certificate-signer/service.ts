import type { CertificateSigningRequest } from '../../../api/index.ts';
import {
  certificateSigningRequestKind,
  clientSignerName,
  nodeKind,
  nodeSignerNames,
} from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { SigningRefusedError } from '../../pki/index.ts';
import { followWritten } from '../../registry/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { controller } from '../controller.ts';
import { createLiveNodes } from './live-nodes.ts';
import { keepSweeping } from './old-requests.ts';
import { RequestDecisions } from './request-decisions.ts';
import { isFinished, nameOf } from './requests.ts';
import type { Delay, SignedUsage, SigningOptions } from './sign-request.ts';
import { AddressesMissingError, RequestSigner } from './sign-request.ts';

export interface SignerOptions extends ControllerOptions, SigningOptions {}

const retryDelayedMs = 2_000;

/** The usage of the certificates of each signer name that is served here. */
const usages: Readonly<Record<string, SignedUsage>> = {
  [nodeSignerNames.client]: 'client',
  [nodeSignerNames.serving]: 'serving',
  [clientSignerName]: 'user',
};

/**
 * Signs approved requests for client certificates, and approves and signs requests for node certificates:
 * - a node's request for itself;
 * - an administrator's request for any node;
 * - for a client certificate, the request of a user to whom a role allows it, such as a node that joins with a bootstrap
 *   token; it waits while a node of that name is alive.
 * All other requests are left alone until they are approved. The signer decides what may be in such a certificate.
 * Requests are removed an hour after their creation when they are decided, and after a day when they are not.
 */
export function certificateSigner(options: SignerOptions): Service {
  const { registry, storage, clock, log } = options;
  const requests = registry.of(certificateSigningRequestKind);
  const nodes = registry.of(nodeKind);
  const prefix = requests.prefix('');
  const liveNodes = createLiveNodes(options);
  const signer = new RequestSigner({ ...options, findSignOfLife: liveNodes.findSignOfLife });
  const decisions = new RequestDecisions(requests, clock);

  /** Requests that wait because the node is alive: the node's name by the request's. */
  const delayed = new Map<string, string>();
  /** The same for those that wait for the addresses of the node: they are looked at again when the Node changes. */
  const unaddressed = new Map<string, string>();

  async function work(name: string): Promise<void> {
    delayed.delete(name);
    unaddressed.delete(name);
    const stored = storage.get(prefix + name);
    if (stored === undefined) return;
    const request = requests.encoding.read(stored);
    const usage = usages[request.spec.signerName];
    if (usage === undefined || isFinished(request)) return;
    const signed = await signer.sign(request, usage).catch((error: unknown) => {
      if (error instanceof AddressesMissingError) unaddressed.set(name, error.node);
      throw error;
    });
    if (signed === undefined) return; // it waits for an approval
    if (signed instanceof SigningRefusedError) await decisions.refuse(request, signed.message);
    else if (typeof signed === 'string') await decisions.issue(request, signed);
    else await delay(request, signed);
  }

  async function delay(request: CertificateSigningRequest, { node, why }: Delay): Promise<void> {
    delayed.set(nameOf(request), node);
    if (!(await decisions.delay(request, why))) return;
    const { username } = request.spec;
    log.warn({ request: nameOf(request), node, username }, `a request for a certificate waits: ${why}`);
  }

  /** A reinstalled machine gets its name back once the previous installation is silent. */
  async function retryDelayed(enqueue: (name: string) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const silent = new Set(
        [...new Set(delayed.values())].filter((node) => liveNodes.findSignOfLife(node) === undefined),
      );
      for (const [name, node] of delayed) if (silent.has(node)) enqueue(name);
      await clock.sleep(retryDelayedMs, signal);
    }
  }

  return controller('certificate-signer', options, (enqueue) => ({
    follows: [
      liveNodes.begin(),
      {
        resource: requests,
        ...followWritten((key) => enqueue(requests.placeOf(key).name)),
        gone({ key }) {
          delayed.delete(requests.placeOf(key).name);
          unaddressed.delete(requests.placeOf(key).name);
        },
      },
      {
        resource: nodes,
        ...followWritten((key) => {
          for (const [name, node] of unaddressed) if (node === nodes.placeOf(key).name) enqueue(name);
        }),
      },
    ],
    work,
    beside: (signal) => [keepSweeping({ requests, clock, log }, signal), retryDelayed(enqueue, signal)],
  }));
}
