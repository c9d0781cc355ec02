import type { Infer } from '../../schema/index.ts';
import { bytes, field, int32, list, map, required, string, struct, time } from '../../schema/index.ts';
import { ageColumn, shortDuration } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause, Column } from '../kind.ts';

const specFields = {
  request: required(1, bytes, 'PKCS #10 request, PEM.'),
  signerName: required(7, string, 'Who shall sign.'),
  expirationSeconds: field(8, int32, 'Wanted lifetime of the certificate; at least 600.'),
  usages: field(5, list(string), 'Key usages that are asked for.'),
  username: field(2, string, 'Who created the request; given by the server.'),
  uid: field(3, string, 'UID of who created the request; given by the server.'),
  groups: field(4, list(string), 'Groups of who created the request; given by the server.'),
  extra: field(6, map(list(string)), 'More about who created the request; given by the server.'),
};

const condition = struct('CertificateSigningRequestCondition', {
  type: required(1, string, 'Approved, Denied or Failed.'),
  status: required(6, string, 'True, False or Unknown.'),
  reason: field(2, string, 'Why, for programs.'),
  message: field(3, string, 'Why, for people.'),
  lastUpdateTime: field(4, time, 'When the condition was last changed.'),
  lastTransitionTime: field(5, time, 'When the status last changed.'),
});

const root = objectStruct('CertificateSigningRequest', {
  spec: required(2, struct('CertificateSigningRequestSpec', specFields), 'The request.'),
  status: field(
    3,
    struct('CertificateSigningRequestStatus', {
      conditions: field(1, list(condition, { list: 'map', keys: ['type'] }), 'Decisions about the request.'),
      certificate: field(2, bytes, 'The certificate, PEM, once it is issued.'),
    }),
    'The answer.',
  ),
});

/** The signers of node agents' certificates, by what the certificate is for. */
export const nodeSignerNames = {
  client: 'kubernetes.io/kube-apiserver-client-kubelet',
  serving: 'kubernetes.io/kubelet-serving',
} as const;

/** A request for a certificate (RFC 2986), answered by a signer of the control plane. */
export interface CertificateSigningRequest extends Infer<typeof root> {}

const leastSeconds = 600;
const signerNameLimit = 571;
const signerName = /^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/[^/]+$/;

function validate(next: CertificateSigningRequest): Cause[] {
  const { request, signerName: signer, expirationSeconds, usages = [] } = next.spec;
  const causes: Cause[] = [];
  if (!Buffer.from(request, 'base64').includes('-----BEGIN CERTIFICATE REQUEST-----')) {
    const message = 'Invalid value: PEM block type must be CERTIFICATE REQUEST';
    causes.push({ reason: 'FieldValueInvalid', field: 'spec.request', message });
  }
  if (signer.length > signerNameLimit || !signerName.test(signer)) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    const message = `Invalid value: ${JSON.stringify(signer)}: ${detail}`;
    causes.push({ reason: 'FieldValueInvalid', field: 'spec.signerName', message });
  }
  if (expirationSeconds !== undefined && expirationSeconds < leastSeconds) {
    const message = `Invalid value: ${expirationSeconds}: may not specify a duration less than ${leastSeconds} seconds (10 minutes)`;
    causes.push({ reason: 'FieldValueInvalid', field: 'spec.expirationSeconds', message });
  }
  return [...causes, ...usageCauses(usages)];
}

const keyUsages = [
  ...['signing', 'digital signature', 'content commitment', 'key encipherment', 'key agreement'],
  ...['data encipherment', 'cert sign', 'crl sign', 'encipher only', 'decipher only', 'any'],
  ...['server auth', 'client auth', 'code signing', 'email protection', 's/mime', 'ipsec end system'],
  ...['ipsec tunnel', 'ipsec user', 'timestamping', 'ocsp signing', 'microsoft sgc', 'netscape sgc'],
];

function usageCauses(usages: readonly string[]): Cause[] {
  if (usages.length === 0) {
    return [{ reason: 'FieldValueRequired', field: 'spec.usages', message: 'Required value' }];
  }
  return usages.flatMap((usage, index): Cause[] => {
    const field = `spec.usages[${index}]`;
    if (!keyUsages.includes(usage)) {
      const supported = keyUsages.map((known) => JSON.stringify(known)).join(', ');
      const message = `Unsupported value: ${JSON.stringify(usage)}: supported values: ${supported}`;
      return [{ reason: 'FieldValueNotSupported', field, message }];
    }
    if (usages.indexOf(usage) === index) return [];
    return [{ reason: 'FieldValueDuplicate', field, message: `Duplicate value: ${JSON.stringify(usage)}` }];
  });
}

/** A denial outweighs an approval. */
function state(request: CertificateSigningRequest): string {
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
  resource: 'certificatesigningrequests',
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  namespaced: false,
  root,
  nameRule: 'pathSegment',
  subresources: [{ name: 'status', verbs: ['get', 'update'], fields: ['status'] }],
  /** What was asked for stays, so that nothing else is signed than was approved. */
  prepare(next, old) {
    if (old !== undefined) return { ...next, spec: old.spec };
    const { status: _given, ...rest } = next;
    return rest;
  },
  validate,
  columns: [
    ageColumn,
    column('SignerName', 'Who shall sign.', (request) => request.spec?.signerName || '<none>'),
    column('Requestor', 'Who asked.', (request) => request.spec?.username ?? ''),
    column('RequestedDuration', 'Wanted lifetime of the certificate.', requestedDuration),
    column('Condition', 'State of the request.', state),
  ],
  selectable: [{ path: 'spec.signerName', value: (request) => request.spec?.signerName ?? '' }],
});
