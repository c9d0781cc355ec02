import type { ApiObject, Kind, PersistentVolumeClaim, Pod, ResourceQuotaSpec } from '../../../api/index.ts';
import { persistentVolumeClaimKind, podKind, qosClassOf } from '../../../api/index.ts';
import { isA } from './usage.ts';

interface Requirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** Whether an object counts for a quota by its scopes: all of them must fit. Scopes are of pods and claims only. */
export function isInScope(kind: Kind, object: ApiObject, spec: ResourceQuotaSpec = {}): boolean {
  const requirements: Requirement[] = [
    ...(spec.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec.scopeSelector?.matchExpressions ?? []),
  ];
  return requirements.every((requirement) => fits(kind, object, requirement));
}

function fits(kind: Kind, object: ApiObject, requirement: Requirement): boolean {
  if (isA(podKind, kind, object)) return podFits(object, requirement);
  if (!isA(persistentVolumeClaimKind, kind, object)) return false;
  return requirement.scopeName === 'VolumeAttributesClass' && namesFit(attributesOf(object), requirement);
}

function podFits(pod: Pod, requirement: Requirement): boolean {
  const { activeDeadlineSeconds: deadline, priorityClassName } = pod.spec ?? {};
  switch (requirement.scopeName) {
    case 'Terminating':
      return deadline !== undefined;
    case 'NotTerminating':
      return deadline === undefined;
    case 'BestEffort':
      return qosClassOf(pod) === 'BestEffort';
    case 'NotBestEffort':
      return qosClassOf(pod) !== 'BestEffort';
    case 'PriorityClass':
      return namesFit(priorityClassName ? [priorityClassName] : [], requirement);
    case 'CrossNamespacePodAffinity':
      return looksIntoOtherNamespaces(pod);
    default:
      return false;
  }
}

function namesFit(names: readonly string[], { operator, values = [] }: Requirement): boolean {
  const isListed = names.some((name) => values.includes(name));
  switch (operator) {
    case 'Exists':
      return names.length > 0;
    case 'DoesNotExist':
      return names.length === 0;
    case 'In':
      return isListed;
    default:
      return !isListed;
  }
}

/** Those that a claim has or is getting. */
function attributesOf({ spec, status }: PersistentVolumeClaim): string[] {
  const names = [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return names.flatMap((name) => (name ? [name] : []));
}

function looksIntoOtherNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  return [podAffinity, podAntiAffinity].some((affinity) => {
    const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const terms = [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)];
    return terms.some(
      ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
    );
  });
}
