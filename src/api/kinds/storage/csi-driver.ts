import type { Infer } from '../../schema/index.ts';
import { bool, field, int64, list, required, string, struct } from '../../schema/index.ts';
import { causesOf, duplicateValue, invalidValue, unsupportedValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause, Column } from '../kind.ts';
import { pointer } from '../pod-spec/wire.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { driverNameCauses } from './volume-causes.ts';

const driverSpec = struct('CSIDriverSpec', {
  attachRequired: field(1, bool, 'Whether volumes are attached to nodes.', pointer),
  podInfoOnMount: field(2, bool, 'Whether the driver is told of the pod.', pointer),
  volumeLifecycleModes: field(3, list(string, { list: 'set' }), 'Persistent, Ephemeral.'),
  storageCapacity: field(4, bool, 'Whether the driver reports how much storage there is.', pointer),
  fsGroupPolicy: field(5, string, 'ReadWriteOnceWithFSType, File or None.', pointer),
  tokenRequests: field(
    6,
    list(
      struct('TokenRequest', {
        audience: required(1, string, 'For whom the token is; empty for the API.'),
        expirationSeconds: field(2, int64, 'How long it lasts.', pointer),
      }),
    ),
    'Tokens of the pod that the driver is given.',
  ),
  requiresRepublish: field(7, bool, 'Whether volumes are published again and again.', pointer),
  seLinuxMount: field(8, bool, 'Whether the driver mounts with an SELinux context.', pointer),
  nodeAllocatableUpdatePeriodSeconds: field(
    9,
    int64,
    'Seconds after which the number of volumes of a node is asked again.',
    pointer,
  ),
  serviceAccountTokenInSecrets: field(10, bool, 'Whether tokens are passed as secrets.', pointer),
  preventPodSchedulingIfMissing: field(
    11,
    bool,
    'Whether pods are kept from nodes without the driver.',
    pointer,
  ),
});

const root = objectStruct('CSIDriver', { spec: required(2, driverSpec, 'What the driver does.') });

/** A CSI driver of the cluster. */
export interface CSIDriver extends Infer<typeof root> {}

function withDefaults(driver: CSIDriver): CSIDriver {
  const { volumeLifecycleModes: modes = [], ...spec } = driver.spec ?? {};
  return {
    ...driver,
    spec: {
      ...spec,
      attachRequired: spec.attachRequired ?? true,
      podInfoOnMount: spec.podInfoOnMount ?? false,
      storageCapacity: spec.storageCapacity ?? false,
      fsGroupPolicy: spec.fsGroupPolicy ?? 'ReadWriteOnceWithFSType',
      requiresRepublish: spec.requiresRepublish ?? false,
      seLinuxMount: spec.seLinuxMount ?? false,
      volumeLifecycleModes: modes.length > 0 ? modes : ['Persistent'],
    },
  };
}

const fixed = ['attachRequired', 'volumeLifecycleModes'] as const;

function validate({ metadata, spec }: CSIDriver, old: CSIDriver | undefined): Cause[] {
  return [
    ...driverNameCauses('metadata.name', metadata?.name ?? ''),
    ...fixed.flatMap((name) =>
      old === undefined || hasSameMeaning(driverSpec.fields[name].type, spec[name], old.spec[name])
        ? []
        : [invalidValue(`spec.${name}`, spec[name], 'field is immutable')],
    ),
    ...(spec.fsGroupPolicy === undefined || groupPolicies.includes(spec.fsGroupPolicy)
      ? []
      : [unsupportedValue('spec.fsGroupPolicy', spec.fsGroupPolicy, groupPolicies)]),
    ...causesOf(spec.volumeLifecycleModes, (mode) =>
      lifecycleModes.includes(mode)
        ? []
        : [unsupportedValue('spec.volumeLifecycleModes', mode, lifecycleModes)],
    ),
    ...tokenCauses(spec.tokenRequests),
    ...periodCauses(spec.nodeAllocatableUpdatePeriodSeconds),
  ];
}

const groupPolicies = ['ReadWriteOnceWithFSType', 'File', 'None'];
const lifecycleModes = ['Ephemeral', 'Persistent'];
const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;
const minPeriodSeconds = 10;

function tokenCauses(requests: CSIDriver['spec']['tokenRequests']): Cause[] {
  const earlier = new Set<string>();
  return causesOf(requests, ({ audience, expirationSeconds: seconds }, index) => {
    const path = `spec.tokenRequests[${index}]`;
    const isAgain = earlier.has(audience);
    earlier.add(audience);
    return [
      ...(isAgain ? [duplicateValue(`${path}.audience`, audience)] : []),
      ...(seconds !== undefined && seconds < minTokenSeconds
        ? [
            invalidValue(
              `${path}.expirationSeconds`,
              seconds,
              'may not specify a duration less than 10 minutes',
            ),
          ]
        : []),
      ...(seconds !== undefined && seconds > maxTokenSeconds
        ? [
            invalidValue(
              `${path}.expirationSeconds`,
              seconds,
              'may not specify a duration larger than 2^32 seconds',
            ),
          ]
        : []),
    ];
  });
}

function periodCauses(seconds: number | undefined): Cause[] {
  if (seconds === undefined || seconds >= minPeriodSeconds) return [];
  const field = 'spec.nodeAllocatableUpdatePeriodSeconds';
  return [invalidValue(field, seconds, `must be greater than or equal to ${minPeriodSeconds} seconds`)];
}

/** Counts the states of the spec of a driver; the first has no number. */
function withGeneration(next: CSIDriver, old: CSIDriver | undefined): CSIDriver {
  if (old === undefined || hasSameMeaning(driverSpec, withDefaults(next).spec, old.spec)) return next;
  return { ...next, metadata: { ...next.metadata, generation: (old.metadata?.generation ?? 0) + 1 } };
}

function flagColumn(
  name: string,
  description: string,
  value: (driver: CSIDriver) => boolean,
): Column<CSIDriver> {
  return { name, type: 'boolean', description, priority: 0, value };
}

function audiencesText({ spec }: CSIDriver): string {
  const requests = spec?.tokenRequests;
  return requests === undefined ? '<unset>' : requests.map(({ audience }) => audience).join(',');
}

export const csiDriverKind = defineKind<CSIDriver>({
  group: 'storage',
  version: 'v1',
  kind: 'CSIDriver',
  doc: 'A CSI driver of the cluster, and what it needs of nodes.',
  resource: 'csidrivers',
  singular: 'csidriver',
  namespaced: false,
  unconditionalUpdate: false,
  root,
  prepare: withGeneration,
  default: withDefaults,
  validate,
  columns: [
    flagColumn(
      'AttachRequired',
      'Whether volumes are attached to nodes.',
      ({ spec }) => spec?.attachRequired ?? true,
    ),
    flagColumn(
      'PodInfoOnMount',
      'Whether the driver is told of the pod.',
      ({ spec }) => spec?.podInfoOnMount ?? false,
    ),
    flagColumn(
      'StorageCapacity',
      'Whether storage is counted.',
      ({ spec }) => spec?.storageCapacity ?? false,
    ),
    textColumn('TokenRequests', 0, 'For whom the driver gets tokens.', audiencesText),
    flagColumn(
      'RequiresRepublish',
      'Whether volumes are published again and again.',
      ({ spec }) => spec?.requiresRepublish ?? false,
    ),
    textColumn(
      'Modes',
      0,
      'Of which lives its volumes are.',
      ({ spec }) => spec?.volumeLifecycleModes?.join(',') || '<none>',
    ),
    ageColumn,
  ],
});
