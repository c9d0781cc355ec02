import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, CertificateSigningRequest, ClusterTrustBundle } from '../../../api/index.ts';
import { certificateSigningRequestKind, clusterTrustBundleKind, StatusError } from '../../../api/index.ts';
import type { User } from '../../authn/index.ts';
import { mastersGroup } from '../../authn/index.ts';
import type { Admission } from '../../registry/index.ts';
import type { RbacAuthorizer } from './authorizer.ts';

/*
 * The right to write the approval or the status of a CertificateSigningRequest does not suffice for every signer:
 * `approval` needs the verb `approve`, a certificate or condition through `status` the verb `sign`, and a ClusterTrustBundle of
 * a signer the verb `attest`, each on the resource `signers` by the name of the signer, or of all signers of its domain
 * (`example.org/*`). Writes of the control plane itself, and of members of system:masters, are not checked. Messages are those
 * of the reference (its plugins CertificateApproval, CertificateSigning and ClusterTrustBundleAttest).
 */

export interface SignerOptions {
  authorizer: Pick<RbacAuthorizer, 'authorize'>;
  /** The API group of requests for certificates with its suffix. */
  group: string;
}

/** What a write needs: a verb on a signer, and the fault where the caller has it not. */
interface Needed {
  readonly verb: 'approve' | 'sign' | 'attest';
  readonly signerName: string;
  readonly fault: string;
}

/** Throws 403 for an approval, signature or trust bundle of a signer for which the caller has no permission. */
export function createSignerCheck(options: SignerOptions): Admission {
  return (user, { verb, resource, subresource, name }, next, old) => {
    if (verb === 'delete' || next === undefined || user.groups.includes(mastersGroup)) return;
    const needed = neededOf(resource, subresource, next, old);
    if (needed === undefined || isAllowed(options, user, needed)) return;
    const { group } = options;
    const what = `${resource}.${group} ${JSON.stringify(name)}`;
    throw new StatusError('Forbidden', `${what} is forbidden: ${needed.fault}`, {
      details: { name, group, kind: resource },
    });
  };
}

function neededOf(
  resource: string,
  subresource: string,
  next: ApiObject,
  old: ApiObject | undefined,
): Needed | undefined {
  if (isTrustBundle(resource, next))
    return neededToAttest(next, old !== undefined && isTrustBundle(resource, old) ? old : undefined);
  if (old === undefined || !isSigningRequest(resource, next) || !isSigningRequest(resource, old))
    return undefined;
  return neededToAnswer(subresource, next, old);
}

function neededToAnswer(
  subresource: string,
  next: CertificateSigningRequest,
  old: CertificateSigningRequest,
): Needed | undefined {
  const { signerName } = old.spec; // what is stored: a write does not change it
  const need = (verb: 'approve' | 'sign'): Needed => ({
    ...{ verb, signerName },
    fault: `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`,
  });
  if (subresource === 'approval') return need('approve');
  const isAnswered = subresource === 'status' && !isDeepStrictEqual(answerIn(next), answerIn(old));
  return isAnswered ? need('sign') : undefined;
}

function answerIn({ status: { certificate = '', conditions = [] } = {} }: CertificateSigningRequest) {
  return { certificate, conditions };
}

/** Finalizers and owners may be changed without it: controllers that know no signer do so. */
function neededToAttest(next: ClusterTrustBundle, old: ClusterTrustBundle | undefined): Needed | undefined {
  const { signerName = '' } = next.spec ?? {};
  if (signerName === '') return undefined;
  if (old !== undefined && isDeepStrictEqual(attestedIn(next), attestedIn(old))) return undefined;
  const fault = `user not permitted to attest for signerName ${JSON.stringify(signerName)}`;
  return { verb: 'attest', signerName, fault };
}

function attestedIn({ metadata: { labels, annotations } = {}, spec }: ClusterTrustBundle) {
  return { spec, labels: { ...labels }, annotations: { ...annotations } };
}

function isSigningRequest(resource: string, _object: ApiObject): _object is CertificateSigningRequest {
  return resource === certificateSigningRequestKind.resource;
}

function isTrustBundle(resource: string, _object: ApiObject): _object is ClusterTrustBundle {
  return resource === clusterTrustBundleKind.resource;
}

function isAllowed({ authorizer, group }: SignerOptions, user: User, { verb, signerName }: Needed): boolean {
  const [domain = ''] = signerName.split('/', 1);
  const asked = { verb, group, version: '*', resource: 'signers', subresource: '', namespace: '' };
  return [signerName, `${domain}/*`].some(
    (name) => authorizer.authorize(user, { ...asked, name }).verdict === 'allow',
  );
}
