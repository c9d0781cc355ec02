import type { CertificateSigningRequest } from '../../../api/index.ts';
import { certificateSigningRequestKind, clientSignerName, nodeSignerNames } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { SigningRefusedError } from '../../pki/index.ts';
import { lookingAt } from '../../registry/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { controller } from '../controller.ts';
import { answersTo } from './answers.ts';
import { liveNodes } from './live-nodes.ts';
import { keepSweeping } from './old-requests.ts';
import { isSettled, nameOf } from './requests.ts';
import type { Delay, SignedUsage, SigningOptions } from './signing.ts';
import { signing } from './signing.ts';

export interface SignerOptions extends ControllerOptions, SigningOptions {}

const lookAgainMs = 2_000;

/** What each signer name that is answered here is for. */
const usages: Readonly<Record<string, SignedUsage>> = {
  [nodeSignerNames.client]: 'client',
  [nodeSignerNames.serving]: 'serving',
  [clientSignerName]: 'user',
};

/**
 * Signs client certificates that somebody has approved, and approves and signs the requests of node agents: a node's own, an administrator's for any node, and for client
 * certificates those of whoever a role allows it, such as nodes that join with a bootstrap token; these wait while a node
 * of that name is alive. Those of others are left alone until somebody approves them. What may be in such a certificate the signer decides. Requests are removed an hour after they were made when they are answered, and
 * after a day when nobody answers them.
 */
export function certificateSigner(options: SignerOptions): Service {
  const { registry, storage, clock, log } = options;
  const requests = registry.of(certificateSigningRequestKind);
  const prefix = requests.prefix('');
  const alive = liveNodes(options);
  const sign = signing({ ...options, alive: alive.alive });
  const answers = answersTo(requests, clock);

  /** Requests for the names of nodes that are alive, with these names. */
  const delayed = new Map<string, string>();

  async function work(name: string): Promise<void> {
    delayed.delete(name);
    const stored = storage.get(prefix + name);
    if (stored === undefined) return;
    const request = requests.encoding.read(stored);
    const usage = usages[request.spec.signerName];
    if (usage === undefined || isSettled(request)) return;
    const signed = await sign(request, usage);
    if (signed === undefined) return; // it waits for somebody who approves it
    if (signed instanceof SigningRefusedError) await answers.refuse(request, signed.message);
    else if (typeof signed === 'string') await answers.issue(request, signed);
    else await delay(request, signed);
  }

  async function delay(request: CertificateSigningRequest, { node, why }: Delay): Promise<void> {
    delayed.set(nameOf(request), node);
    if (!(await answers.delay(request, why))) return;
    const { username } = request.spec;
    log.warn({ request: nameOf(request), node, username }, `a request for a certificate waits: ${why}`);
  }

  /** A machine that was installed anew gets its name back when what was there before is silent. */
  async function lookAgain(look: (name: string) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const silent = new Set(
        [...new Set(delayed.values())].filter((node) => alive.alive(node) === undefined),
      );
      for (const [name, node] of delayed) if (silent.has(node)) look(name);
      await clock.sleep(lookAgainMs, signal);
    }
  }

  return controller('certificate-signer', options, (look) => ({
    follows: [
      alive.begin(),
      {
        resource: requests,
        ...lookingAt((key) => look(requests.placeOf(key).name)),
        gone: ({ key }) => delayed.delete(requests.placeOf(key).name),
      },
    ],
    work,
    beside: (signal) => [keepSweeping({ requests, clock, log }, signal), lookAgain(look, signal)],
  }));
}
