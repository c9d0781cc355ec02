import type { CertificateSigningRequest } from '../../../api/index.ts';

export type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number];

/** Says why a request waits; it stays until there is an answer. */
export const waiting = 'Waiting';

/** Whether anybody has decided anything about it. */
export function isAnswered({ status }: CertificateSigningRequest): boolean {
  return Boolean(status?.certificate) || (status?.conditions ?? []).some(({ type }) => type !== waiting);
}

/** Whether there is nothing left to do: an approved request is one for which there is a certificate to come. */
export function isSettled(request: CertificateSigningRequest): boolean {
  if (request.status?.certificate) return true;
  return hasCondition(request, 'Denied') || hasCondition(request, 'Failed');
}

export function hasCondition({ status }: CertificateSigningRequest, wanted: string): boolean {
  return (status?.conditions ?? []).some(({ type }) => type === wanted);
}

export function nameOf({ metadata }: CertificateSigningRequest): string {
  return metadata?.name ?? '';
}
