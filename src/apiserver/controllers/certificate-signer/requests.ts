import type { CertificateSigningRequest } from '../../../api/index.ts';

export type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number];

/** The condition that says why a request waits; it stays until the request is decided. */
export const waitingType = 'Waiting';

/** Whether the request has a certificate, or a condition that decides it. */
export function isDecided({ status }: CertificateSigningRequest): boolean {
  return Boolean(status?.certificate) || (status?.conditions ?? []).some(({ type }) => type !== waitingType);
}

/** Whether nothing is left to do. An approved request without a certificate is not finished: its certificate is to come. */
export function isFinished(request: CertificateSigningRequest): boolean {
  if (request.status?.certificate) return true;
  return hasCondition(request, 'Denied') || hasCondition(request, 'Failed');
}

export function hasCondition({ status }: CertificateSigningRequest, wanted: string): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === wanted);
}

export function nameOf({ metadata }: CertificateSigningRequest): string {
  return metadata?.name ?? '';
}
