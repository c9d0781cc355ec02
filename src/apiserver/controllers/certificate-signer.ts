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
    if (usage === undefined || isSettled(request)) return;
    const signed = await sign(request, usage);
    if (signed instanceof SigningRefusedError) await refuse(request, signed.message);
    else await issue(request, signed);
  }

  /** Approves, where nobody has done so yet, and answers with the certificate. */
  async function issue(request: CertificateSigningRequest, certificate: string): Promise<void> {
    const approval = condition('Approved', 'AutoApproved', 'approved for a node agent');
    const approved = hasCondition(request, 'Approved')
      ? request
      : await decide(request, approval, 'approval');
    const status = { ...approved.status, certificate: Buffer.from(certificate).toString('base64') };
    await requests.update('', nameOf(request), { ...approved, status }, 'status', context);
  }

  /** What somebody else has approved is not denied any more; it fails. */
  async function refuse(request: CertificateSigningRequest, why: string): Promise<void> {
    const [type, path] = hasCondition(request, 'Approved')
      ? (['Failed', 'status'] as const)
      : (['Denied', 'approval'] as const);
    await decide(request, condition(type, 'SignerValidationFailure', why), path);
  }

  async function decide(
    request: CertificateSigningRequest,
    decision: Condition,
    path: 'approval' | 'status',
  ): Promise<CertificateSigningRequest> {
    const conditions = [...(request.status?.conditions ?? []), decision];
    const next = { ...request, status: { ...request.status, conditions } };
    return requests.encoding.read(await requests.update('', nameOf(request), next, path, context));
  }

  /** The certificate, PEM, or why there is none for this request. */
  async function sign(
    request: CertificateSigningRequest,
    usage: 'client' | 'serving',
  ): Promise<string | SigningRefusedError> {
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
      return await signer.sign({
        csrPem,
        node,
        usage,
        addresses: addresses ?? [],
        ...lifetime,
        ...asked,
      });
    } catch (error) {
      if (error instanceof SigningRefusedError) return error;
      throw error;
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

/** Whether anybody has said anything about it. */
function isAnswered({ status }: CertificateSigningRequest): boolean {
  return Boolean(status?.certificate) || (status?.conditions ?? []).length > 0;
}

/** Whether there is nothing left to do: an approved request is one for which there is a certificate to come. */
function isSettled(request: CertificateSigningRequest): boolean {
  if (request.status?.certificate) return true;
  return hasCondition(request, 'Denied') || hasCondition(request, 'Failed');
}

function hasCondition({ status }: CertificateSigningRequest, wanted: string): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === wanted);
}

function nameOf({ metadata }: CertificateSigningRequest): string {
  return metadata?.name ?? '';
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof StatusError && ['NotFound', 'Conflict'].includes(error.reason))) throw error;
}
