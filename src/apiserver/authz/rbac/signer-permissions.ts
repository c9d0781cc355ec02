import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, CertificateSigningRequest } from '../../../api/index.ts';
import { certificateSigningRequestKind, StatusError } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import { mastersGroup } from '../../authn/index.ts';
import type { Admission } from '../../registry/index.ts';
import type { RbacAuthorizer } from './authorizer.ts';

/*
 * The right to write the approval or the status of a CertificateSigningRequest does not suffice for every signer:
 * `approval` needs the verb `approve`, a certificate or condition through `status` the verb `sign`, each on the
 * resource `signers` by the name of the signer, or of all signers of its domain (`example.org/*`). Writes of the control
 * plane itself, and of members of system:masters, are not checked. Messages are those of the reference (its plugins
 * CertificateApproval and CertificateSigning).
 */

export interface SignerOptions {
  authorizer: Pick<RbacAuthorizer, 'authorize'>;
  /** The API group of requests for certificates with its suffix. */
  group: string;
}

/** Throws 403 for an approval or signature for a signer for which the caller has no permission. */
export function createSignerCheck(options: SignerOptions): Admission {
  return (user, { verb, resource, subresource, name }, next, old) => {
    if (verb !== 'update' || next === undefined || old === undefined) return;
    if (user.groups.includes(mastersGroup)) return;
    if (!isSigningRequest(resource, next) || !isSigningRequest(resource, old)) return;
    const needed = neededVerb(subresource, next, old);
    const { signerName } = old.spec; // what is stored: a write does not change it
    if (needed === undefined || isAllowed(options, user, needed, signerName)) return;
    throw toForbidden(options, name, needed, signerName);
  };
}

type SignerVerb = 'approve' | 'sign';

function neededVerb(
  subresource: string,
  next: CertificateSigningRequest,
  old: CertificateSigningRequest,
): SignerVerb | undefined {
  if (subresource === 'approval') return 'approve';
  return subresource === 'status' && !isDeepStrictEqual(answerIn(next), answerIn(old)) ? 'sign' : undefined;
}

function answerIn({ status: { certificate = '', conditions = [] } = {} }: CertificateSigningRequest) {
  return { certificate, conditions };
}

function isSigningRequest(resource: string, _object: ApiObject): _object is CertificateSigningRequest {
  return resource === certificateSigningRequestKind.resource;
}

function isAllowed(
  { authorizer, group }: SignerOptions,
  user: User,
  verb: SignerVerb,
  signerName: string,
): boolean {
  const [domain = ''] = signerName.split('/', 1);
  const asked = { verb, group, version: '*', resource: 'signers', subresource: '', namespace: '' };
  return [signerName, `${domain}/*`].some(
    (name) => authorizer.authorize(user, { ...asked, name }).verdict === 'allow',
  );
}

function toForbidden(
  { group }: SignerOptions,
  name: string,
  verb: SignerVerb,
  signerName: string,
): StatusError {
  const kind = certificateSigningRequestKind.resource;
  const why = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`;
  return new StatusError('Forbidden', `${kind}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { name, group, kind },
  });
}
