import type { CertificateSigningRequest } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Condition } from './requests.ts';
import { hasCondition, nameOf, waitingType } from './requests.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** Writes the signer's decision into the status of requests. */
export class RequestDecisions {
  readonly #requests: Resource<CertificateSigningRequest>;
  readonly #clock: Clock;

  constructor(requests: Resource<CertificateSigningRequest>, clock: Clock) {
    this.#requests = requests;
    this.#clock = clock;
  }

  /** Approves the request unless it is approved already, and adds the certificate. */
  async issue(request: CertificateSigningRequest, certificate: string): Promise<void> {
    const approval = this.#condition('Approved', 'AutoApproved', 'approved for a node agent');
    const approved = hasCondition(request, 'Approved')
      ? request
      : await this.#decide(request, approval, 'approval');
    const conditions = withoutWaiting(approved);
    const status = {
      ...approved.status,
      conditions,
      certificate: Buffer.from(certificate).toString('base64'),
    };
    await this.#requests.update('', nameOf(request), { ...approved, status }, 'status', context);
  }

  /** Denies the request; one that is approved already becomes Failed instead. */
  async refuse(request: CertificateSigningRequest, why: string): Promise<void> {
    const [type, path] = hasCondition(request, 'Approved')
      ? (['Failed', 'status'] as const)
      : (['Denied', 'approval'] as const);
    await this.#decide(request, this.#condition(type, 'SignerValidationFailure', why), path);
  }

  /** Writes why the request has to wait. Returns false when the request says so already. */
  async delay(request: CertificateSigningRequest, why: string): Promise<boolean> {
    if (request.status?.conditions?.some(({ type, message }) => type === waitingType && message === why)) {
      return false;
    }
    await this.#decide(request, this.#condition(waitingType, 'NodeIsAlive', why), 'status');
    return true;
  }

  #condition(type: string, reason: string, message: string): Condition {
    const now = formatTime(this.#clock.now());
    return { type, status: 'True', reason, message, lastUpdateTime: now, lastTransitionTime: now };
  }

  async #decide(
    request: CertificateSigningRequest,
    decision: Condition,
    path: 'approval' | 'status',
  ): Promise<CertificateSigningRequest> {
    const conditions = [...withoutWaiting(request), decision];
    const next = { ...request, status: { ...request.status, conditions } };
    const requests = this.#requests;
    return requests.encoding.read(await requests.update('', nameOf(request), next, path, context));
  }
}

function withoutWaiting({ status }: CertificateSigningRequest): Condition[] {
  return (status?.conditions ?? []).filter(({ type }) => type !== waitingType);
}
