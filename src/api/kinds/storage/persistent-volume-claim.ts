import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { changeableMetadata } from '../kind.ts';
import { claimChangeCauses, claimSpecCauses, claimStatusCauses } from './claim-causes.ts';
import type { PersistentVolumeClaim } from './claim-description.ts';
import { claimRoot } from './claim-description.ts';
import { classNameOf, formatModes, phaseOf } from './display.ts';

/** What the claim is filled from is said in two fields; one that is left out follows from the other. */
function withSources(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { dataSource, dataSourceRef } = claim.spec ?? {};
  if (dataSource !== undefined && dataSourceRef === undefined)
    return { ...claim, spec: { ...claim.spec, dataSourceRef: dataSource } };
  if (dataSource !== undefined || dataSourceRef === undefined || dataSourceRef.namespace) return claim;
  const { namespace: _namespace, ...local } = dataSourceRef;
  return { ...claim, spec: { ...claim.spec, dataSource: local } };
}

const snapshotGroup = 'snapshot.storage.k8s.io';

/**
 * Of a new claim: the older field takes no other sources than it always did, and a source in another namespace needs a grant
 * that nobody looks at here.
 */
function withKnownSources(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { dataSource, dataSourceRef, ...spec } = claim.spec ?? {};
  const { apiGroup = '', kind } = dataSource ?? {};
  const isKnown =
    (apiGroup === '' && kind === 'PersistentVolumeClaim') ||
    (apiGroup === snapshotGroup && kind === 'VolumeSnapshot');
  return {
    ...claim,
    spec: {
      ...spec,
      ...(dataSource !== undefined && isKnown ? { dataSource } : {}),
      ...(dataSourceRef === undefined || dataSourceRef.namespace ? {} : { dataSourceRef }),
    },
  };
}

function prepare(next: PersistentVolumeClaim, old: PersistentVolumeClaim | undefined): PersistentVolumeClaim {
  return withSources(old === undefined ? withKnownSources({ ...next, status: { phase: 'Pending' } }) : next);
}

function withDefaults(claim: PersistentVolumeClaim): PersistentVolumeClaim {
  const { spec, status } = claim;
  return {
    ...claim,
    spec: { ...spec, volumeMode: spec?.volumeMode ?? 'Filesystem' },
    status: { ...status, phase: status?.phase || 'Pending' },
  };
}

function validate(next: PersistentVolumeClaim, old: PersistentVolumeClaim | undefined): Cause[] {
  return [
    ...claimSpecCauses(next.spec ?? {}, 'spec'),
    ...claimStatusCauses(next),
    ...(old === undefined ? [] : claimChangeCauses(next, old)),
  ];
}

/** What is shown of the volume, once there is one. */
function ofVolume(value: (claim: PersistentVolumeClaim) => string): (claim: PersistentVolumeClaim) => string {
  return (claim) => (claim.spec?.volumeName ? value(claim) : '');
}

const unset = '<unset>';

/** A request for storage, which pods of its namespace name. */
export const persistentVolumeClaimKind = defineKind<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  doc: 'A request for storage, which pods of its namespace name.',
  resource: 'persistentvolumeclaims',
  singular: 'persistentvolumeclaim',
  shortNames: ['pvc'],
  namespaced: true,
  root: claimRoot,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], fields: ['status'], metadata: changeableMetadata },
  ],
  prepare,
  default: withDefaults,
  validate,
  columns: [
    textColumn('Status', 0, 'Phase of the claim.', phaseOf),
    textColumn('Volume', 0, 'The volume that it is bound to.', ({ spec }) => spec?.volumeName ?? ''),
    textColumn(
      'Capacity',
      0,
      'How much the volume holds.',
      ofVolume(({ status }) => status?.capacity?.['storage'] ?? '0'),
    ),
    textColumn(
      'Access Modes',
      0,
      'How the volume can be mounted.',
      ofVolume(({ status }) => formatModes(status?.accessModes)),
    ),
    textColumn('StorageClass', 0, 'Class of the storage.', classNameOf),
    textColumn(
      'VolumeAttributesClass',
      0,
      "Class of the volume's attributes.",
      ({ spec }) => spec?.volumeAttributesClassName ?? unset,
    ),
    ageColumn,
    textColumn('VolumeMode', 1, 'Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? unset),
  ],
});
