import type { ApiObject, CertificateSigningRequest } from '../../api/index.ts';
import { certificateSigningRequestKind, clientSignerName, groupName, StatusError } from '../../api/index.ts';
import { RequestError, readOrganizations } from '../../base/x509/index.ts';
import { mastersGroup } from '../authn/index.ts';
import type { Admission } from '../registry/index.ts';

/**
 * No user may request a client certificate for `system:masters`: an approver of such requests would give away everything
 * (the reference's plugin CertificateSubjectRestriction). Throws 403.
 */
export function createSubjectRestriction(groupSuffix: string): Admission {
  const group = groupName('certificates', groupSuffix);
  return (_user, { verb, resource, subresource, name }, next) => {
    if (verb !== 'create' || subresource !== '' || next === undefined) return;
    if (!isSigningRequest(resource, next)) return;
    const why = explainRefusal(next);
    if (why === undefined) return;
    throw new StatusError('Forbidden', `${resource}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
      details: { ...(name === '' ? {} : { name }), group, kind: resource },
    });
  };
}

/** Admission runs before validation: required fields may be missing. */
function explainRefusal({ spec }: { spec?: Partial<CertificateSigningRequest['spec']> }): string | undefined {
  if (spec?.signerName !== clientSignerName) return undefined;
  try {
    const pem = Buffer.from(spec.request ?? '', 'base64').toString('utf8');
    if (!readOrganizations(pem).includes(mastersGroup)) return undefined;
    return `use of ${clientSignerName} signer with ${mastersGroup} group is not allowed`;
  } catch (error) {
    if (error instanceof RequestError) return `failed to parse CSR: ${error.message}`;
    throw error;
  }
}

function isSigningRequest(resource: string, _object: ApiObject): _object is CertificateSigningRequest {
  return resource === certificateSigningRequestKind.resource;
}
