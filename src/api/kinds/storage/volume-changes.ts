import { struct } from '../../schema/index.ts';
import { forbiddenValue, invalidValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { nodeSelector } from '../pod-spec/affinity.ts';
import { findDifferences, hasSameMeaning } from '../pod-validation/difference.ts';
import type { PersistentVolumeSpec } from './volume-description.ts';
import { persistentVolumeSources } from './volume-sources.ts';

const sources = struct('PersistentVolumeSource', persistentVolumeSources);

/** The causes why a volume cannot become `spec` from `before`. */
export function volumeChangeCauses(spec: PersistentVolumeSpec, before: PersistentVolumeSpec): Cause[] {
  const { volumeAttributesClassName: className, nodeAffinity } = before;
  return [
    ...sourceChangeCauses(spec, before),
    ...(spec.volumeMode === before.volumeMode
      ? []
      : [invalidValue('volumeMode', spec.volumeMode, 'field is immutable')]),
    ...(nodeAffinity === undefined ? [] : affinityChangeCauses(spec.nodeAffinity, nodeAffinity)),
    ...(className !== undefined && spec.volumeAttributesClassName === undefined
      ? [forbiddenValue('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
      : []),
  ];
}

function sourceChangeCauses(spec: PersistentVolumeSpec, before: PersistentVolumeSpec): Cause[] {
  const changed = findDifferences(sources, withoutFirstSecret(spec, before), before, 'spec');
  if (changed.length === 0) return [];
  const detail = `spec.persistentvolumesource is immutable after creation\nchanged: ${changed.join(', ')}`;
  return [forbiddenValue('spec.persistentvolumesource', detail)];
}

/** The Secret for expansions may be added. */
function withoutFirstSecret(spec: PersistentVolumeSpec, before: PersistentVolumeSpec): PersistentVolumeSpec {
  if (
    spec.csi === undefined ||
    before.csi === undefined ||
    before.csi.controllerExpandSecretRef !== undefined
  )
    return spec;
  const { controllerExpandSecretRef: _secret, ...csi } = spec.csi;
  return { ...spec, csi };
}

type NodeAffinity = NonNullable<PersistentVolumeSpec['nodeAffinity']>;

function affinityChangeCauses(affinity: NodeAffinity | undefined, before: NodeAffinity): Cause[] {
  const isSame = hasSameMeaning(nodeSelector, affinity?.required, withStableKeys(before, affinity).required);
  if (affinity !== undefined && isSame) return [];
  const detail = 'field is immutable, except for updating from beta label to GA';
  return [invalidValue('nodeAffinity', affinity, detail)];
}

/** Labels of nodes that have other names by now. */
const stableKeys: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
};

/** An affinity with the names that the next one has given its labels. */
function withStableKeys(before: NodeAffinity, next: NodeAffinity | undefined): NodeAffinity {
  if (before.required === undefined) return before;
  const terms = before.required.nodeSelectorTerms.map((term, at) => {
    const now = next?.required?.nodeSelectorTerms[at]?.matchExpressions ?? [];
    if (term.matchExpressions === undefined) return term;
    const matchExpressions = term.matchExpressions.map((entry, index) => {
      const stable = stableKeys[entry.key];
      return stable !== undefined && now[index]?.key === stable ? { ...entry, key: stable } : entry;
    });
    return { ...term, matchExpressions };
  });
  return { ...before, required: { ...before.required, nodeSelectorTerms: terms } };
}
