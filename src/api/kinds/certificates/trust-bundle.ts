import type { Infer } from '../../schema/index.ts';
import { field, required, string, struct } from '../../schema/index.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { BundleFields } from './trust-bundle-causes.ts';
import { trustBundleCauses } from './trust-bundle-causes.ts';

const spec = struct('ClusterTrustBundleSpec', {
  signerName: field(1, string, 'Whose authorities these are; the name of the bundle then begins with it.'),
  trustBundle: required(2, string, 'Certificates of authorities, PEM.'),
});

const root = objectStruct('ClusterTrustBundle', {
  spec: required(2, spec, 'The authorities.'),
});

/** Certificates of authorities, which every pod may read. */
export interface ClusterTrustBundle extends Infer<typeof root> {}

/** The signer of the certificates that servers of the API have. */
export const apiServingSigner = 'kubernetes.io/kube-apiserver-serving';

function fieldsOf({ metadata, spec }: ClusterTrustBundle): BundleFields {
  const { signerName = '', trustBundle = '' } = spec ?? {};
  return { name: metadata?.name ?? '', signerName, trustBundle };
}

export const clusterTrustBundleKind = defineKind<ClusterTrustBundle>({
  group: 'certificates',
  version: 'v1beta1',
  kind: 'ClusterTrustBundle',
  doc: 'Certificates of authorities, which pods may mount, of one signer or of none.',
  resource: 'clustertrustbundles',
  singular: 'clustertrustbundle',
  namespaced: false,
  root,
  nameRule: 'pathSegment',
  unconditionalUpdate: false,
  validate: (next, old) => trustBundleCauses(fieldsOf(next), old && fieldsOf(old)),
  columns: [
    {
      name: 'SignerName',
      type: 'string',
      description: 'Whose authorities these are.',
      priority: 0,
      value: ({ spec }) => spec?.signerName || '<none>',
    },
  ],
  selectable: [{ path: 'spec.signerName', value: ({ spec }) => spec?.signerName ?? '' }],
});
