import type { ApiObject, OwnerReference, Pod, PodDisruptionBudget } from '../../api/index.ts';
import {
  apiVersionOf,
  isRecord,
  podDisruptionBudgetKind,
  podKind,
  qualifiedResource,
} from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { createWaker, describeError } from '../../base/index.ts';
import type { Happening } from '../../client/events/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { BudgetCount } from '../registry/index.ts';
import {
  countHealthy,
  disruptedPods,
  disruptionTimeoutMs,
  followWritten,
  isUnderBudget,
  withAllowance,
  withCount,
} from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { DueTimes } from './due-times.ts';
import { createEventRecorder } from './event-recorder.ts';
import { ParsedObjects } from './parsed-objects.ts';
import { findReadable } from './presence.ts';
import { WhileFree } from './while-free.ts';

const context = { user: controlPlaneUser, dryRun: false };
const component = 'controllermanager';

/** Everything is looked at this often even if nothing changes. */
const lookMs = 300_000;

/**
 * Keeps the status of PodDisruptionBudgets: how many of their pods may be evicted now. Stands back while
 * kube-controller-manager does it.
 */
export function disruptionBudgets(options: ControllerOptions): Service {
  const { registry, storage, clock, log } = options;
  const budgets = registry.of(podDisruptionBudgetKind);
  const pods = registry.of(podKind);
  const own = 'the controller of disruption budgets';
  const parsed = new ParsedObjects(registry, podKind, log, own);
  const whileFree = new WhileFree(options, own);

  return controller('disruption-budgets', options, (enqueue) => {
    const recorder = createEventRecorder(options);
    const due = new DueTimes();
    const waker = createWaker(clock);

    function enqueueBudgetsOf(...states: readonly Stored[]): void {
      const [{ key } = { key: '' }] = states;
      const { namespace } = pods.placeOf(key);
      const { items } = storage.list(budgets.prefix(namespace), '', 0);
      if (items.length === 0) return;
      const before = states.flatMap((stored) => parsed.read(stored) ?? []);
      for (const stored of items) {
        const budget = budgets.readShared(stored);
        if (before.some((pod) => isUnderBudget(pod, budget))) enqueue(stored.key);
      }
    }

    function tell(
      budget: PodDisruptionBudget,
      type: Happening['type'],
      reason: string,
      message: string,
    ): void {
      const { namespace = '', name = '', uid = '' } = budget.metadata ?? {};
      const apiVersion = apiVersionOf(podDisruptionBudgetKind, registry.groupSuffix);
      const { kind } = podDisruptionBudgetKind;
      recorder.record(component, { apiVersion, kind, namespace, name, uid }, { type, reason, message });
    }

    async function work(key: string): Promise<void> {
      if (!whileFree.isFree()) return;
      due.delete(key);
      const stored = findReadable(storage, key);
      if (stored === undefined) return;
      const budget = budgets.encoding.read(stored);
      const own = parsed.list(budget.metadata?.namespace ?? '').filter((pod) => isUnderBudget(pod, budget));
      if (own.length === 0) tell(budget, 'Normal', 'NoPods', 'No matching pods found');
      const expected = expectedOf(budget, own, (owner, namespace) => findReplicas(owner, namespace, options));
      if ('unmanaged' in expected && expected.unmanaged)
        tell(budget, 'Warning', 'UnmanagedPods', describeUnmanaged(budget));
      if ('why' in expected) {
        const message = `Failed to calculate the number of expected pods: ${expected.why}`;
        tell(budget, 'Warning', 'CalculateExpectedPodCountFailed', message);
      }
      const nowMs = clock.now();
      reportLate(disruptedPods(budget, own, nowMs).late, budget);
      const make = (now: PodDisruptionBudget): PodDisruptionBudget => {
        if (
          now.metadata?.uid !== budget.metadata?.uid ||
          now.metadata?.generation !== budget.metadata?.generation
        )
          return now; // it is looked at again
        if ('why' in expected) return withFailure(now, expected.why, nowMs);
        const { disrupted } = disruptedPods(now, own, nowMs);
        const currentHealthy = countHealthy(own, disrupted);
        return withCount(now, { ...expected, currentHealthy }, disrupted, nowMs);
      };
      const written = await budgets.change(
        budgets.placeOf(key),
        { make, operation: 'Update' },
        'status',
        context,
      );
      const times = Object.values(budgets.encoding.read(written).status?.disruptedPods ?? {});
      if (times.length === 0) return;
      due.set(key, Math.min(...times.map((time) => Date.parse(time))) + disruptionTimeoutMs + 1000);
      waker.wake();
    }

    function reportLate(late: readonly Pod[], { metadata }: PodDisruptionBudget): void {
      for (const pod of late) {
        const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
        const message = `Pod was expected by PDB ${namespace}/${metadata?.name} to be deleted but it wasn't`;
        const happening = { type: 'Warning', reason: 'NotDeleted', message } as const;
        recorder.record(component, { kind: 'Pod', namespace, name, uid }, happening);
      }
    }

    async function lookAgain(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        waker.forget();
        for (const key of due.take(clock.now())) enqueue(key);
        const waitMs = due.nextMs === undefined ? lookMs : due.nextMs - clock.now();
        await waker.sleep(Math.max(0, Math.min(waitMs, lookMs)), signal);
      }
    }

    const enqueueAll = () => {
      for (const { key } of storage.list(budgets.prefix(''), '', 0).items) enqueue(key);
    };
    return {
      follows: [
        { resource: budgets, ...followWritten(enqueue) },
        {
          resource: pods,
          added: enqueueBudgetsOf,
          changed: enqueueBudgetsOf,
          gone: enqueueBudgetsOf,
        },
      ],
      work,
      beside: (signal) => [
        recorder.run(signal),
        lookAgain(signal),
        whileFree.run(enqueueAll, lookMs, signal),
      ],
    };
  });
}

/** Safe: nothing may be evicted while it is not known how many pods there should be. */
function withFailure(budget: PodDisruptionBudget, why: string, nowMs: number): PodDisruptionBudget {
  const status = { ...budget.status, disruptionsAllowed: 0 };
  return withAllowance({ ...budget, status }, nowMs, { reason: 'SyncFailed', message: why });
}

function describeUnmanaged({ spec }: PodDisruptionBudget): string {
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${JSON.stringify(spec?.selector)}) were found to be unmanaged. As a ` +
    'result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these ' +
    'pods please set ".spec.minAvailable" field of the PDB to an integer value.'
  );
}

/** How many pods an owner is to have; throws an Error that says why that is not known; undefined: there is no such owner. */
export type FindReplicas = (owner: OwnerReference, namespace: string) => OwnerScale | undefined;

export interface OwnerScale {
  readonly uid: string;
  readonly replicas: number;
}

type Expected = Omit<BudgetCount, 'currentHealthy'> & { readonly unmanaged: boolean };

/** How many pods a budget is for, and how many of them must be ready; or why that is not known. */
export function expectedOf(
  { spec = {} }: PodDisruptionBudget,
  pods: readonly Pod[],
  find: FindReplicas,
): Expected | { readonly why: string } {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && (minAvailable === undefined || typeof minAvailable === 'number'))
    return {
      expectedPods: minAvailable === undefined ? 0 : pods.length,
      desiredHealthy: minAvailable ?? 0,
      unmanaged: false,
    };
  try {
    const { expectedPods, unmanaged } = scaleOf(pods, find);
    const desired =
      maxUnavailable === undefined
        ? partOf(minAvailable ?? 0, expectedPods)
        : expectedPods - partOf(maxUnavailable, expectedPods);
    return { expectedPods, desiredHealthy: Math.max(0, desired), unmanaged };
  } catch (error) {
    return { why: describeError(error) };
  }
}

/** A number, or a percentage, rounded up. */
function partOf(part: number | string, all: number): number {
  return typeof part === 'number' ? part : Math.ceil((Number.parseInt(part, 10) * all) / 100);
}

function scaleOf(pods: readonly Pod[], find: FindReplicas) {
  const owners = new Map<string, number>();
  const known = new Set<string>();
  let unmanaged = false;
  for (const { metadata: { name, namespace = '', ownerReferences } = {} } of pods) {
    const owner = ownerReferences?.find((each) => each.controller);
    if (owner === undefined) unmanaged = true;
    if (owner === undefined || known.has(owner.uid)) continue;
    known.add(owner.uid);
    const scale = find(owner, namespace);
    if (scale === undefined) throw new Error(`found no controllers for pod ${JSON.stringify(name)}`);
    owners.set(scale.uid, scale.replicas);
  }
  return { expectedPods: [...owners.values()].reduce((sum, each) => sum + each, 0), unmanaged };
}

/** By the scale of the owner; a ReplicaSet of a Deployment has that one's. */
function findReplicas(
  owner: OwnerReference,
  namespace: string,
  { registry, storage }: Pick<ControllerOptions, 'registry' | 'storage'>,
): OwnerScale | undefined {
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/', 1)[0] : '';
  const resource = registry.resources.find(({ kind }) => {
    const own = apiVersionOf(kind, registry.groupSuffix);
    return kind.kind === owner.kind && (own.includes('/') ? own.split('/', 1)[0] : '') === group;
  });
  if (resource === undefined) return undefined;
  if (!resource.kind.subresources.some(({ name }) => name === 'scale'))
    throw new Error(
      `${qualifiedResource(resource.kind, registry.groupSuffix)} does not implement the scale subresource`,
    );
  const stored = findReadable(storage, resource.prefix(namespace) + owner.name);
  const object = stored && resource.encoding.read(stored);
  if (object?.metadata?.uid !== owner.uid) return undefined;
  const above = object.metadata.ownerReferences?.find((each) => each.controller);
  const isOfDeployment = owner.kind === 'ReplicaSet' && above?.kind === 'Deployment';
  const higher = isOfDeployment ? findReplicas(above, namespace, { registry, storage }) : undefined;
  return higher ?? { uid: owner.uid, replicas: replicasOf(object) };
}

function replicasOf(object: ApiObject): number {
  const spec = 'spec' in object && isRecord(object.spec) ? object.spec : {};
  return typeof spec['replicas'] === 'number' ? spec['replicas'] : 1;
}
