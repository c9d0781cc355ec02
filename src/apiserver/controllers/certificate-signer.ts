import type { CertificateSigningRequest } from '../../api/index.ts';
import { certificateSigningRequestKind, nodeKind, nodeSignerNames, StatusError } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { describeError, untilAborted } from '../../base/index.ts';
import { controlPlaneUser, mastersGroup } from '../authn/index.ts';
import { nodeNameOf } from '../authz/index.ts';
import type { NodeSigner } from '../pki/index.ts';
import { SigningRefusedError } from '../pki/index.ts';
import { timestamp } from '../registry/index.ts';
import type { ControllerOptions } from './namespace-deletion.ts';
import { ownAddresses, reportedAddresses } from './node-addresses.ts';
import { createWorkQueue } from './work-queue.ts';

export interface SignerOptions extends ControllerOptions {
  signer: NodeSigner;
  /** Names and addresses of the control plane itself: no node may have them. */
  controlPlaneNames: readonly string[];
}

/** What each signer name that is answered here is for. */
const usages: Readonly<Record<string, 'client' | 'serving'>> = {
  [nodeSignerNames.client]: 'client',
  [nodeSignerNames.serving]: 'serving',
};
const context = { user: controlPlaneUser, dryRun: false };
/** How long an answered request is kept, and one that nobody answers; as the reference. */
const answeredMs = 3600_000;
const pendingMs = 24 * 3600_000;
const sweepEveryMs = 10 * 60_000;

type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number];

/**
 * Approves and signs the requests of node agents: a node's own, and an administrator's for any node. What may be in
 * such a certificate the signer decides. Requests are removed an hour after they were made when they are answered, and
 * after a day when nobody answers them.
 */
export function certificateSigner(options: SignerOptions): Service {
  const { registry, storage, clock, signer } = options;
  const requests = registry.of(certificateSigningRequestKind);
  const prefix = requests.prefix('');

  async function work(name: string): Promise<void> {
    const stored = storage.get(prefix + name);
    if (stored === undefined) return;
    const request = requests.encoding.read(stored);
    const usage = usages[request.spec.signerName];
    if (usage === undefined || isAnswered(request)) return;
    const status = await answer(request, usage);
    await requests.update('', name, { ...request, status }, 'status', context);
  }

  async function answer(request: CertificateSigningRequest, usage: 'client' | 'serving') {
    try {
      const csrPem = Buffer.from(request.spec.request, 'base64').toString('utf8');
      const node = await nodeFor(request, csrPem);
      const seconds = request.spec.expirationSeconds;
      const lifetime = seconds === undefined ? {} : { lifetimeMs: seconds * 1000 };
      const addresses = addressesOf(node, request);
      if (usage === 'serving' && addresses === undefined) {
        throw new Error(`node ${node} has not told its addresses yet`);
      }
      const { usages: keyUsages } = request.spec;
      const asked = keyUsages === undefined ? {} : { usages: keyUsages };
      const certificate = await signer.sign({
        csrPem,
        node,
        usage,
        addresses: addresses ?? [],
        ...lifetime,
        ...asked,
      });
      const approved = condition('Approved', 'AutoApproved', 'approved for a node agent');
      return { conditions: [approved], certificate: Buffer.from(certificate).toString('base64') };
    } catch (error) {
      if (!(error instanceof SigningRefusedError)) throw error;
      return { conditions: [condition('Denied', 'SignerValidationFailure', error.message)] };
    }
  }

  /** The node that a request is for: the caller itself; for an administrator the one that the request names. */
  async function nodeFor({ spec }: CertificateSigningRequest, csrPem: string): Promise<string> {
    const user = { name: spec.username ?? '', groups: spec.groups ?? [], extra: {} };
    const node = nodeNameOf(user);
    if (node !== undefined) return node;
    if (!user.groups.includes(mastersGroup)) {
      throw new SigningRefusedError(
        `user ${JSON.stringify(user.name)} is no node agent and may not ask for a node's certificate`,
      );
    }
    return await signer.nodeIn(csrPem);
  }

  /** What may be in the certificate beside the node's name; undefined while the node has not told its addresses. */
  function addressesOf(name: string, { spec }: CertificateSigningRequest): string[] | undefined {
    const nodes = registry.of(nodeKind);
    const all = storage.list(nodes.prefix(''), '', 0).items.map((stored) => nodes.encoding.read(stored));
    const node = all.find(({ metadata }) => metadata?.name === name);
    if (node === undefined || (node.status?.addresses ?? []).length === 0) return undefined;
    if (spec.groups?.includes(mastersGroup)) return reportedAddresses(node);
    const others = all.filter((other) => other !== node);
    return ownAddresses(node, others, options.controlPlaneNames);
  }

  function condition(type: string, reason: string, message: string): Condition {
    const now = timestamp(clock.now());
    return { type, status: 'True', reason, message, lastUpdateTime: now, lastTransitionTime: now };
  }

  async function sweep(): Promise<void> {
    for (const stored of storage.list(prefix, '', 0).items) {
      const { metadata, ...request } = requests.encoding.read(stored);
      const age = clock.now() - Date.parse(metadata?.creationTimestamp ?? '');
      if (!(age > (isAnswered(request) ? answeredMs : pendingMs))) continue;
      await requests.delete('', metadata?.name ?? '', {}, context).catch(ignoreGone);
    }
  }

  return {
    name: 'certificate-signer',
    dependsOn: [],
    onFailure: 'restart',
    async run(signal, ready) {
      const queue = createWorkQueue({ work, clock, log: options.log });
      using _listener = storage.onApply(({ key, next }) => {
        if (next !== null && key.startsWith(prefix)) queue.add(key.slice(prefix.length));
      });
      for (const { key } of storage.list(prefix, '', 0).items) queue.add(key.slice(prefix.length));
      ready();
      const sweeping = keepSweeping(signal);
      await Promise.all([queue.run(signal), sweeping, untilAborted(signal)]);
    },
  };

  async function keepSweeping(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sweep().catch((error: unknown) => {
        options.log.warn(`old certificate requests could not be removed: ${describeError(error)}`);
      });
      await clock.sleep(sweepEveryMs, signal);
    }
  }
}

function isAnswered({ status }: CertificateSigningRequest): boolean {
  return Boolean(status?.certificate) || (status?.conditions ?? []).length > 0;
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
}
