import type { Infer } from '../../schema/index.ts';
import { bytes, field, int32, list, map, required, string, struct, time } from '../../schema/index.ts';
import { objectStruct } from '../define.ts';

const specFields = {
  request: required(1, bytes, 'PKCS #10 request, PEM.'),
  signerName: required(7, string, 'Who shall sign.'),
  expirationSeconds: field(8, int32, 'Wanted lifetime of the certificate; at least 600.', { pointer: true }),
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
  lastUpdateTime: field(4, time, 'When the condition was last changed.', { written: true }),
  lastTransitionTime: field(5, time, 'When the status last changed.', { written: true }),
});

/** The fields of a CertificateSigningRequest. */
export const signingRequestRoot = objectStruct('CertificateSigningRequest', {
  spec: required(2, struct('CertificateSigningRequestSpec', specFields), 'The request.'),
  status: field(
    3,
    struct('CertificateSigningRequestStatus', {
      conditions: field(1, list(condition, { list: 'map', keys: ['type'] }), 'Decisions about the request.'),
      certificate: field(2, bytes, 'The certificate, PEM, once it is issued.'),
    }),
    'The answer.',
    { default: {} },
  ),
});

/** A request for a certificate (RFC 2986), answered by a signer of the control plane. */
export interface CertificateSigningRequest extends Infer<typeof signingRequestRoot> {}
