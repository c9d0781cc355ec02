import { ageColumn, shortDuration } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Column } from '../kind.ts';
import { changeableMetadata } from '../kind.ts';
import type { CertificateSigningRequest } from './description.ts';
import { signingRequestRoot } from './description.ts';
import { signingRequestCauses } from './signing-request-causes.ts';

/** The signers of node agents' certificates, by what the certificate is for. */
export const nodeSignerNames = {
  client: 'kubernetes.io/kube-apiserver-client-kubelet',
  serving: 'kubernetes.io/kubelet-serving',
} as const;

/** The signer of all other client certificates for the API. */
export const clientSignerName = 'kubernetes.io/kube-apiserver-client';

/** A denial outweighs an approval. */
function formatState(request: CertificateSigningRequest): string {
  const types = new Set((request.status?.conditions ?? []).map((entry) => entry.type));
  const decision = ['Denied', 'Approved'].find((type) => types.has(type)) ?? 'Pending';
  const failed = types.has('Failed') ? ',Failed' : '';
  return `${decision}${failed}${request.status?.certificate ? ',Issued' : ''}`;
}

function requestedDuration(request: CertificateSigningRequest): string {
  const seconds = request.spec?.expirationSeconds;
  return seconds === undefined ? '<none>' : shortDuration(seconds);
}

function column(
  name: string,
  description: string,
  value: (request: CertificateSigningRequest) => string,
): Column<CertificateSigningRequest> {
  return { name, type: 'string', description, priority: 0, value };
}

export const certificateSigningRequestKind = defineKind<CertificateSigningRequest>({
  group: 'certificates',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  doc: 'A request for a certificate (PKCS #10), answered by a signer once it is approved.',
  resource: 'certificatesigningrequests',
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  namespaced: false,
  root: signingRequestRoot,
  nameRule: 'pathSegment',
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      fields: ['status'],
      metadata: changeableMetadata,
    },
    {
      name: 'approval',
      verbs: ['get', 'patch', 'update'],
      fields: ['status'],
      metadata: changeableMetadata,
    },
  ],
  /** The spec cannot change, so that exactly what was approved is signed. */
  prepare(next, old) {
    if (old !== undefined) return { ...next, spec: old.spec };
    const { status: _given, ...rest } = next;
    return rest;
  },
  validate: signingRequestCauses,
  columns: [
    ageColumn,
    column('SignerName', 'Who shall sign.', (request) => request.spec?.signerName || '<none>'),
    column('Requestor', 'Who asked.', (request) => request.spec?.username ?? ''),
    column('RequestedDuration', 'Wanted lifetime of the certificate.', requestedDuration),
    column('Condition', 'State of the request.', formatState),
  ],
  selectable: [{ path: 'spec.signerName', value: (request) => request.spec?.signerName ?? '' }],
});
