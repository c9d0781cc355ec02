import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedKinds } from '../../../../src/api/index.ts';
import type { Type } from '../../../../src/api/schema/index.ts';
import { podMerges } from './reference-markers-pod.ts';

/** `path: apply / patch` of every list below a type that merges otherwise than as a whole. */
function merges(type: Type, path: string): string[] {
  if (type.t === 'map') return merges(type.of, `${path}{}`);
  if (type.t === 'struct')
    return Object.entries(type.fields).flatMap(([name, field]) => merges(field.type, `${path}.${name}`));
  if (type.t !== 'list') return [];
  const apply = type.list === 'map' ? `map by ${type.keys?.join()}` : type.list;
  const patch = type.patch?.merge
    ? `merge${type.patch.key === undefined ? '' : ` by ${type.patch.key}`}`
    : 'replace';
  const here = apply === 'atomic' && patch === 'replace' ? [] : [`${path}: ${apply} / ${patch}`];
  return [...here, ...merges(type.of, `${path}[]`)];
}

const ofMetadata = [
  '.metadata.ownerReferences: map by uid / merge by uid',
  '.metadata.finalizers: set / merge',
];

test('lists merge as the markers of the published types say, under apply and under a patch', () => {
  const expected: Record<string, string[]> = {
    Namespace: [...ofMetadata, '.status.conditions: map by type / merge by type'],
    Node: [
      ...ofMetadata,
      '.spec.podCIDRs: set / merge',
      '.status.conditions: map by type / merge by type',
      '.status.addresses: map by type / merge by type',
    ],
    Pod: [...podMerges],
    Lease: ofMetadata,
    ConfigMap: ofMetadata,
    Secret: ofMetadata,
    ClusterTrustBundle: ofMetadata,
    ServiceAccount: [...ofMetadata, '.secrets: map by name / merge by name'],
    Service: [
      ...ofMetadata,
      '.spec.ports: map by port,protocol / merge by port',
      '.status.conditions: map by type / merge by type',
    ],
    PersistentVolume: ofMetadata,
    PersistentVolumeClaim: [...ofMetadata, '.status.conditions: map by type / merge by type'],
    StorageClass: ofMetadata,
    VolumeAttachment: ofMetadata,
    CSIDriver: [...ofMetadata, '.spec.volumeLifecycleModes: set / replace'],
    Event: ofMetadata,
    CSINode: [...ofMetadata, '.spec.drivers: map by name / merge by name'],
    RuntimeClass: ofMetadata,
    Role: ofMetadata,
    ClusterRole: ofMetadata,
    RoleBinding: ofMetadata,
    ClusterRoleBinding: ofMetadata,
    AccessDiff: [...ofMetadata, ...ofMetadata.map((merge) => `.spec.objects[]${merge}`)],
    AccessExplanation: ofMetadata,
    AccessQuery: ofMetadata,
    SubjectAccessReview: ofMetadata,
    LocalSubjectAccessReview: ofMetadata,
    SelfSubjectAccessReview: ofMetadata,
    SelfSubjectRulesReview: ofMetadata,
    SelfSubjectReview: ofMetadata,
    TokenReview: ofMetadata,
    CertificateSigningRequest: [...ofMetadata, '.status.conditions: map by type / replace'],
  };
  // reference-markers.test.ts compares these, and all further kinds, with the published types
  const found = servedKinds.filter(({ kind }) => kind in expected);
  assert.deepEqual(Object.fromEntries(found.map((kind) => [kind.kind, merges(kind.root, '')])), expected);
});

test('an owner is replaced as a whole', () => {
  for (const kind of servedKinds) {
    const metadata = kind.root.fields['metadata']?.type;
    const owners = metadata?.t === 'struct' ? metadata.fields['ownerReferences']?.type : undefined;
    assert.ok(owners?.t === 'list' && owners.of.t === 'struct' && owners.of.atomic);
  }
});
