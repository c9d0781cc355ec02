import { causesOf, forbiddenValue, invalidValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import { container as containerType } from '../pod-spec/container.ts';
import { resourceRequirements } from '../pod-spec/resources.ts';
import { computeQosClass } from '../pods/new-status.ts';
import type { Container, PodSpec, PodStatus, ResourceRequirements } from '../pods/types.ts';
import { billionths } from '../quantity.ts';
import { hasSameMeaning } from './difference.ts';

/*
 * What may change through the resize subresource: requests and limits of cpu and memory, of what runs on (regular containers,
 * sidecars, the pod as a whole), as long as the class of the pod stays the same. Words and paths are the reference's.
 */

/** What a resize is judged by, beside the two specs. */
interface ResizedPod {
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly status: PodStatus | undefined;
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';

type Lists = 'containers' | 'initContainers';

/**
 * Of the sent spec only what a resize is about. Where containers were added, removed, renamed or reordered they are as they were
 * sent, so that validation sees it.
 */
export function resizedSpec(next: PodSpec, old: PodSpec): PodSpec {
  const { resources } = next;
  const { resources: _before, ...rest } = old;
  return {
    ...rest,
    ...(resources === undefined ? {} : { resources }),
    containers: resizedContainers(next.containers, old.containers),
    ...(next.initContainers === undefined
      ? {}
      : { initContainers: resizedContainers(next.initContainers, old.initContainers ?? []) }),
  };
}

function resizedContainers(next: readonly Container[], old: readonly Container[]): Container[] {
  if (!isSameOrder(next, old)) return [...next];
  return old.map((before, index) => {
    const { resources, resizePolicy } = next[index] ?? {};
    const { resources: _resources, resizePolicy: _policy, ...rest } = before;
    return {
      ...rest,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    };
  });
}

function isSameOrder(next: readonly Container[], old: readonly Container[]): boolean {
  return next.length === old.length && next.every(({ name }, index) => name === old[index]?.name);
}

/** The causes why a change through the resize subresource is invalid. */
export function resizeCauses(next: PodSpec, old: PodSpec, pod: ResizedPod, path: string): Cause[] {
  if (pod.annotations?.[mirrorAnnotation] !== undefined)
    return [forbiddenValue('', 'static pods cannot be resized')];
  if (old.os?.name === 'windows') return [forbiddenValue('', 'windows pods cannot be resized')];
  const before = [...classCauses(next, old, pod, path), ...supportCauses(pod.status, path)];
  const disordered = [
    ...orderCauses(next, old, 'containers', path),
    ...orderCauses(next, old, 'initContainers', path),
  ];
  if (disordered.length > 0) return [...before, ...disordered];
  return [
    ...before,
    ...removalCauses(next.resources, old.resources, `${path}.resources`),
    ...listRemovalCauses(next, old, 'initContainers', path),
    ...listRemovalCauses(next, old, 'containers', path),
    ...fixedCauses(next, old, path),
  ];
}

function classCauses(next: PodSpec, old: PodSpec, { status }: ResizedPod, path: string): Cause[] {
  const before = status?.qosClass ?? computeQosClass(old);
  const wrong = 'Pod QOS Class may not change as a result of resizing';
  return computeQosClass(next) === before ? [] : [invalidValue(path, before, wrong)];
}

/** An agent that cannot resize does not say what is in force for its containers. */
function supportCauses(status: PodStatus | undefined, path: string): Cause[] {
  const running = status?.containerStatuses?.find(({ state }) => state?.running !== undefined);
  if (running === undefined || running.resources !== undefined) return [];
  return [forbiddenValue(path, 'Pod running on node without support for resize')];
}

function orderCauses(next: PodSpec, old: PodSpec, list: Lists, path: string): Cause[] {
  const [after, before] = [next[list] ?? [], old[list] ?? []];
  if (after.length !== before.length)
    return [forbiddenValue(`${path}.${list}`, `${list} may not be added or removed on resize`)];
  return causesOf(after, ({ name }, index) =>
    name === before[index]?.name
      ? []
      : [
          forbiddenValue(
            `${path}.${list}[${index}].name`,
            `${list} may not be renamed or reordered on resize`,
          ),
        ],
  );
}

const isSidecar = ({ restartPolicy }: Container) => restartPolicy === 'Always';

function listRemovalCauses(next: PodSpec, old: PodSpec, list: Lists, path: string): Cause[] {
  return causesOf(old[list], (before, index) =>
    list === 'initContainers' && !isSidecar(before)
      ? []
      : removalCauses(
          next[list]?.[index]?.resources,
          before.resources,
          `${path}.${list}[${index}].resources`,
        ),
  );
}

function removalCauses(
  next: ResourceRequirements | undefined,
  old: ResourceRequirements | undefined,
  at: string,
): Cause[] {
  return (['requests', 'limits'] as const).flatMap((kind) => {
    const left = next?.[kind] ?? {};
    const isRemoved = Object.keys(old?.[kind] ?? {}).some((name) => left[name] === undefined);
    return isRemoved ? [forbiddenValue(`${at}.${kind}`, `resource ${kind} cannot be removed`)] : [];
  });
}

const resizable = ['cpu', 'memory'];

/** All but cpu and memory; what is zero counts as absent. */
function withoutResizable(resources: ResourceRequirements | undefined): ResourceRequirements {
  const rest = (quantities: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(quantities).filter(
        ([name, text]) => !resizable.includes(name) && billionths(text) !== 0n,
      ),
    );
  return { ...resources, limits: rest(resources?.limits), requests: rest(resources?.requests) };
}

const withoutAmounts = (container: Container): Container => ({
  ...container,
  resources: withoutResizable(container.resources),
});

function fixedCauses(next: PodSpec, old: PodSpec, path: string): Cause[] {
  const isSame = (after: Container, before: Container) => hasSameMeaning(containerType, after, before);
  const ofPod = hasSameMeaning(
    resourceRequirements,
    withoutResizable(next.resources),
    withoutResizable(old.resources),
  );
  const forbidden = (detail: string) => [forbiddenValue(path, detail)];
  return [
    ...(ofPod ? [] : forbidden('only cpu and memory resources are mutable')),
    ...causesOf(next.containers, (after, index) => {
      const before = old.containers[index];
      if (before === undefined || isSame(withoutAmounts(after), withoutAmounts(before))) return [];
      return forbidden('only cpu and memory resources are mutable');
    }),
    ...causesOf(next.initContainers, (after, index) => {
      const before = old.initContainers?.[index];
      if (before === undefined) return [];
      if (!isSidecar(before))
        return isSame(after, before)
          ? []
          : forbidden('resources for non-sidecar init containers are immutable');
      if (isSame(withoutAmounts(after), withoutAmounts(before))) return [];
      return forbidden('only cpu and memory resources for sidecar containers are mutable');
    }),
  ];
}
