import type { CertificateSigningRequest } from '../../../api/index.ts';
import { formatTime } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Condition } from './requests.ts';
import { hasCondition, nameOf, waiting } from './requests.ts';

const context = { user: controlPlaneUser, dryRun: false };

/** Writes into requests what has become of them. */
export interface Answers {
  /** Approves, where nobody has done so yet, and answers with the certificate. */
  issue(request: CertificateSigningRequest, certificate: string): Promise<void>;
  /** What somebody else has approved is not denied any more; it fails. */
  refuse(request: CertificateSigningRequest, why: string): Promise<void>;
  /** Says why nothing comes of it yet; tells whether that is news. */
  delay(request: CertificateSigningRequest, why: string): Promise<boolean>;
}

export function answersTo(requests: Resource<CertificateSigningRequest>, clock: Clock): Answers {
  function condition(type: string, reason: string, message: string): Condition {
    const now = formatTime(clock.now());
    return { type, status: 'True', reason, message, lastUpdateTime: now, lastTransitionTime: now };
  }

  async function decide(
    request: CertificateSigningRequest,
    decision: Condition,
    path: 'approval' | 'status',
  ): Promise<CertificateSigningRequest> {
    const conditions = [...withoutWaiting(request), decision];
    const next = { ...request, status: { ...request.status, conditions } };
    return requests.encoding.read(await requests.update('', nameOf(request), next, path, context));
  }

  return {
    async issue(request, certificate) {
      const approval = condition('Approved', 'AutoApproved', 'approved for a node agent');
      const approved = hasCondition(request, 'Approved')
        ? request
        : await decide(request, approval, 'approval');
      const conditions = withoutWaiting(approved);
      const status = {
        ...approved.status,
        conditions,
        certificate: Buffer.from(certificate).toString('base64'),
      };
      await requests.update('', nameOf(request), { ...approved, status }, 'status', context);
    },
    async refuse(request, why) {
      const [type, path] = hasCondition(request, 'Approved')
        ? (['Failed', 'status'] as const)
        : (['Denied', 'approval'] as const);
      await decide(request, condition(type, 'SignerValidationFailure', why), path);
    },
    async delay(request, why) {
      if (request.status?.conditions?.some(({ type, message }) => type === waiting && message === why)) {
        return false;
      }
      await decide(request, condition(waiting, 'NodeIsAlive', why), 'status');
      return true;
    },
  };
}

function withoutWaiting({ status }: CertificateSigningRequest): Condition[] {
  return (status?.conditions ?? []).filter(({ type }) => type !== waiting);
}
