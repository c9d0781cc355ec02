import { causesOf, forbiddenValue, invalidUnless, invalidValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { ephemeralContainer } from '../pod-spec/container.ts';
import { podSpec } from '../pod-spec/spec.ts';
import type { Affinity, Container, PodSpec, Toleration } from '../pods/types.ts';
import { findDifferences, hasSameMeaning } from './difference.ts';
import { checkRange } from './formats.ts';

/* Which fields of a pod can change after its creation, and through which path. */

const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

/** The causes why a change of the spec through the pod itself is invalid. */
export function updateCauses(next: PodSpec, old: PodSpec, path: string): Cause[] {
  const counted = [
    ...countCauses(next.containers, old.containers, `${path}.containers`),
    ...countCauses(next.initContainers, old.initContainers, `${path}.initContainers`),
  ];
  if (counted.length > 0) return counted;
  return [
    ...deadlineCauses(next, old, `${path}.activeDeadlineSeconds`),
    ...tolerationCauses(next.tolerations ?? [], old.tolerations ?? [], `${path}.tolerations`),
    ...schedulingGateCauses(next, old, `${path}.schedulingGates`),
    ...gatedCauses(next, old, path),
    ...fixedCauses(next, old, path),
  ];
}

function countCauses(
  next: readonly Container[] = [],
  old: readonly Container[] = [],
  field: string,
): Cause[] {
  return next.length === old.length
    ? []
    : [forbiddenValue(field, 'pod updates may not add or remove containers')];
}

const maxDeadlineLength = 2 ** 31 - 1;

/** A deadline can be set and shortened, not removed. */
function deadlineCauses(next: PodSpec, old: PodSpec, field: string): Cause[] {
  const [deadline, before] = [next.activeDeadlineSeconds, old.activeDeadlineSeconds];
  if (deadline === undefined) {
    if (before === undefined) return [];
    return [invalidValue(field, null, 'must not update from a positive integer to nil value')];
  }
  if (before !== undefined && before < deadline)
    return [invalidValue(field, deadline, 'must be less than or equal to previous value')];
  return invalidUnless(field, deadline, checkRange(deadline, 0, maxDeadlineLength));
}

/** All but the time, which may change. */
function tolerationKey({ key = '', operator = '', value = '', effect = '' }: Toleration): string {
  return JSON.stringify([key, operator, value, effect]);
}

function tolerationCauses(next: readonly Toleration[], old: readonly Toleration[], field: string): Cause[] {
  const kept = new Set(next.map(tolerationKey));
  if (old.every((toleration) => kept.has(tolerationKey(toleration)))) return [];
  return [forbiddenValue(field, 'existing toleration can not be modified except its tolerationSeconds')];
}

function schedulingGateCauses(next: PodSpec, old: PodSpec, field: string): Cause[] {
  const before = new Set(old.schedulingGates?.map(({ name }) => name));
  return causesOf(next.schedulingGates, ({ name }, index) =>
    before.has(name)
      ? []
      : [
          forbiddenValue(
            `${field}[${index}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  );
}

function isGated(spec: PodSpec): boolean {
  return (spec.schedulingGates ?? []).length > 0;
}

/** While scheduling gates hold a pod back, its placement can still be narrowed. */
function gatedCauses(next: PodSpec, old: PodSpec, path: string): Cause[] {
  if (!isGated(old)) return [];
  const selector = next.nodeSelector ?? {};
  const lost = Object.entries(old.nodeSelector ?? {}).some(([key, value]) => selector[key] !== value);
  if (!lost) return [];
  const wrong = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return [invalidValue(`${path}.nodeSelector`, selector, wrong)];
}

/** The new spec with the changeable fields reset to their old values. */
function withoutAllowedChanges(next: PodSpec, old: PodSpec): PodSpec {
  const { activeDeadlineSeconds: _deadline, initContainers, ...rest } = next;
  const raised = (old.terminationGracePeriodSeconds ?? 0) < 0 && next.terminationGracePeriodSeconds === 1;
  return {
    ...rest,
    ...kept('activeDeadlineSeconds', old.activeDeadlineSeconds),
    ...kept('tolerations', old.tolerations),
    ...kept('schedulingGates', old.schedulingGates),
    ...(raised ? kept('terminationGracePeriodSeconds', old.terminationGracePeriodSeconds) : {}),
    ...(isGated(old) ? placement(next, old) : {}),
    containers: withOldImages(next.containers, old.containers),
    ...(initContainers === undefined
      ? {}
      : { initContainers: withOldImages(initContainers, old.initContainers ?? []) }),
  };
}

function kept<K extends keyof PodSpec>(name: K, value: PodSpec[K]): Partial<PodSpec> {
  return { [name]: value };
}

function placement(next: PodSpec, old: PodSpec): Partial<PodSpec> {
  const { nodeAffinity: _next, ...others }: Affinity = next.affinity ?? {};
  const nodeAffinity = old.affinity?.nodeAffinity;
  const affinity = { ...others, ...(nodeAffinity === undefined ? {} : { nodeAffinity }) };
  const none = Object.keys(affinity).length === 0 && old.affinity === undefined;
  return {
    ...kept('nodeSelector', old.nodeSelector),
    ...(none ? kept('affinity', undefined) : { affinity }),
  };
}

function withOldImages(next: readonly Container[], old: readonly Container[]): Container[] {
  return next.map((container, index) => {
    const image = old[index]?.image;
    return image === undefined ? container : { ...container, image };
  });
}

function fixedCauses(next: PodSpec, old: PodSpec, path: string): Cause[] {
  const changed = findDifferences(podSpec, withoutAllowedChanges(next, old), old, path);
  if (changed.length === 0) return [];
  const fields = `pod updates may not change fields other than ${updatable.join(',')}`;
  return [forbiddenValue(path, `${fields}\nchanged: ${changed.join(', ')}`)];
}

/** The causes why a change through the ephemeralcontainers subresource is invalid; it can only add. */
export function ephemeralUpdateCauses(next: PodSpec, old: PodSpec, path: string): Cause[] {
  const field = `${path}.ephemeralContainers`;
  const byName = new Map(next.ephemeralContainers?.map((container) => [container.name, container]));
  return causesOf(old.ephemeralContainers, (before) => {
    const after = byName.get(before.name);
    const which = `existing ephemeral containers ${JSON.stringify(before.name)}`;
    if (after === undefined) return [forbiddenValue(field, `${which} may not be removed\n`)];
    const same = hasSameMeaning(ephemeralContainer, before, after);
    return same ? [] : [forbiddenValue(field, `${which} may not be changed\n`)];
  });
}
