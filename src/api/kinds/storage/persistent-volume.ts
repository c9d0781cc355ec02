import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { changeableMetadata } from '../kind.ts';
import { classNameOf, formatModes, phaseOf } from './display.ts';
import { volumeSpecCauses } from './volume-causes.ts';
import { volumeChangeCauses } from './volume-changes.ts';
import { defaultVolumeSource } from './volume-defaults.ts';
import type { PersistentVolume } from './volume-description.ts';
import { persistentVolumeRoot } from './volume-description.ts';

function withDefaults(volume: PersistentVolume): PersistentVolume {
  const { status = {} } = volume;
  const spec = defaultVolumeSource({
    ...volume.spec,
    persistentVolumeReclaimPolicy: volume.spec?.persistentVolumeReclaimPolicy || 'Retain',
    volumeMode: volume.spec?.volumeMode ?? 'Filesystem',
  });
  return { ...volume, spec, status: { ...status, phase: status.phase || 'Pending' } };
}

/** A new volume came into its phase when it was made. */
function newStatus({ metadata }: PersistentVolume): NonNullable<PersistentVolume['status']> {
  const lastPhaseTransitionTime = metadata?.creationTimestamp;
  return { phase: 'Pending', ...(lastPhaseTransitionTime ? { lastPhaseTransitionTime } : {}) };
}

function validate({ spec = {} }: PersistentVolume, old: PersistentVolume | undefined): Cause[] {
  return [
    ...volumeSpecCauses(spec, 'spec', false),
    ...(old === undefined ? [] : volumeChangeCauses(spec, old.spec ?? {})),
  ];
}

function claimText({ spec }: PersistentVolume): string {
  const { namespace = '', name = '' } = spec?.claimRef ?? {};
  return spec?.claimRef === undefined ? '' : `${namespace}/${name}`;
}

const unset = '<unset>';

/** A piece of storage, which a claim is bound to. */
export const persistentVolumeKind = defineKind<PersistentVolume>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  doc: 'A piece of storage of the cluster, for one claim.',
  resource: 'persistentvolumes',
  singular: 'persistentvolume',
  shortNames: ['pv'],
  namespaced: false,
  root: persistentVolumeRoot,
  subresources: [
    { name: 'status', verbs: ['get', 'patch', 'update'], fields: ['status'], metadata: changeableMetadata },
  ],
  prepare: (next, old) => (old === undefined ? { ...next, status: newStatus(next) } : next),
  default: withDefaults,
  validate,
  columns: [
    textColumn('Capacity', 0, 'How much it holds.', ({ spec }) => spec?.capacity?.['storage'] ?? '0'),
    textColumn('Access Modes', 0, 'How it can be mounted.', ({ spec }) => formatModes(spec?.accessModes)),
    textColumn(
      'Reclaim Policy',
      0,
      'What becomes of it without its claim.',
      ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    textColumn('Status', 0, 'Phase of the volume.', phaseOf),
    textColumn('Claim', 0, 'The claim that it is bound to, or kept for.', claimText),
    textColumn('StorageClass', 0, 'Class of the storage.', classNameOf),
    textColumn(
      'VolumeAttributesClass',
      0,
      "Class of the volume's attributes.",
      ({ spec }) => spec?.volumeAttributesClassName ?? unset,
    ),
    textColumn('Reason', 0, 'Why it is in its phase.', ({ status }) => status?.reason ?? ''),
    ageColumn,
    textColumn('VolumeMode', 1, 'Filesystem or Block.', ({ spec }) => spec?.volumeMode ?? unset),
  ],
});
