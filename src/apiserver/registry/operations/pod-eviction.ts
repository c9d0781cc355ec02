import type { Eviction, Pod, PodDisruptionBudget, Status } from '../../../api/index.ts';
import {
  evictionBody,
  formatTime,
  podDisruptionBudgetKind,
  podHasEnded,
  podKind,
  StatusError,
} from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import { isPodReady, isUnderBudget, withAllowance } from '../disruption/budget.ts';
import { withDisruption } from '../disruption/pod-condition.ts';
import type { WriteContext } from '../strategy.ts';
import type { Operation, Registry } from '../types.ts';
import type { Deletion } from '../write/deletion-plan.ts';
import { propagationPolicies, settleGrace } from '../write/deletion-plan.ts';

const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** In the reference's words. */
const evicted = { reason: 'EvictionByEvictionAPI', message: 'Eviction API: evicting' };

/** Evictions of a budget that may be under way. */
const maxUnderWay = 2000;

const attempts = 10;

/**
 * Takes a pod off its node (pods/eviction): deletes it as its options say, when its disruption budget allows that. Throws
 * TooManyRequests when the budget does not now, and what a deletion throws.
 */
export function createPodEviction(clock: Pick<Clock, 'now'>): Operation<Eviction> {
  return {
    body: evictionBody,
    async run({ registry, namespace, name, body, context }) {
      const dryRun = context.dryRun || (body.deleteOptions?.dryRun ?? []).length > 0;
      const eviction = new PodEviction(registry, clock, { ...context, dryRun });
      await eviction.evict(namespace, name, deletionOf(body));
      return { status: success };
    },
  };
}

class PodEviction {
  readonly #registry: Registry;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #context: WriteContext;

  constructor(registry: Registry, clock: Pick<Clock, 'now'>, context: WriteContext) {
    this.#registry = registry;
    this.#clock = clock;
    this.#context = context;
  }

  async evict(namespace: string, name: string, asked: Deletion): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#tryEvict(namespace, name, asked);
        return;
      } catch (error) {
        if (!isConflict(error) || asked.resourceVersion || asked.uid || attempt === attempts) throw error;
      }
    }
  }

  async #tryEvict(namespace: string, name: string, asked: Deletion): Promise<void> {
    const pods = this.#registry.of(podKind);
    const pod = pods.encoding.read(pods.get(namespace, name));
    if (isGoing(pod)) return await this.#delete(pod, asked, false);
    if (pod.status?.phase === 'Pending') return await this.#delete(pod, asked, true);
    const budget = this.#budgetOf(pod);
    if (budget === undefined) return await this.#delete(pod, asked, false);
    if (mayGoUnready(pod, budget)) {
      try {
        return await this.#delete(pod, asked, true);
      } catch (error) {
        if (isConflict(error) && !asked.resourceVersion) throw createStillProcessedError(budget);
        throw error;
      }
    }
    await this.#take(budget, name);
    await this.#delete(pod, asked, false);
  }

  #budgetOf(pod: Pod): PodDisruptionBudget | undefined {
    const budgets = this.#registry.of(podDisruptionBudgetKind);
    const { items } = budgets.storage.list(budgets.prefix(pod.metadata?.namespace ?? ''), '', 0);
    const own = items.map((stored) => budgets.readShared(stored)).filter((each) => isUnderBudget(pod, each));
    if (own.length <= 1) return own[0];
    const why =
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new StatusError('InternalError', why);
  }

  /** Writes into the budget that the pod goes; of several at the same moment none gets what another has got. */
  async #take({ metadata = {} }: PodDisruptionBudget, pod: string): Promise<void> {
    const { namespace = '', name = '' } = metadata;
    const nowMs = this.#clock.now();
    const make = (budget: PodDisruptionBudget) => taken(budget, pod, nowMs);
    const context = { user: controlPlaneUser, dryRun: this.#context.dryRun };
    const budgets = this.#registry.of(podDisruptionBudgetKind);
    await budgets.change({ namespace, name }, { make, operation: 'Update' }, 'status', context);
  }

  /** `isSame`: only as it was when it was judged. */
  async #delete(pod: Pod, asked: Deletion, isSame: boolean): Promise<void> {
    const pods = this.#registry.of(podKind);
    const { namespace = '', name = '', resourceVersion = '', uid } = pod.metadata ?? {};
    if (asked.uid && asked.uid !== uid)
      return void (await pods.delete(namespace, name, asked, this.#context));
    const wanted = asked.resourceVersion || (isSame ? resourceVersion : undefined);
    const written = this.#context.dryRun || isGoing(pod) ? undefined : await this.#explain(pod, wanted);
    const version = written ?? wanted;
    const same = { ...asked, ...(uid === undefined ? {} : { uid }) };
    const deletion = version === undefined ? same : { ...same, resourceVersion: version };
    await pods.delete(namespace, name, deletion, this.#context);
  }

  /** Writes into the pod why it goes; returns the version that it then has, if it had to be a certain one before. */
  async #explain({ metadata = {} }: Pod, wanted: string | undefined): Promise<string | undefined> {
    const { namespace = '', name = '' } = metadata;
    const make = (now: Pod): Pod => {
      const next = withDisruption(now, evicted, this.#clock.now());
      if (wanted === undefined) return next;
      return { ...next, metadata: { ...next.metadata, resourceVersion: wanted } };
    };
    const context = { user: controlPlaneUser, dryRun: false };
    const pods = this.#registry.of(podKind);
    const stored = await pods.change({ namespace, name }, { make, operation: 'Update' }, 'status', context);
    return wanted === undefined ? undefined : String(stored.revision);
  }
}

/** Nothing is disrupted by its deletion. */
function isGoing(pod: Pod): boolean {
  return podHasEnded(pod) || pod.metadata?.deletionTimestamp !== undefined;
}

/** A pod that is not ready does not count for its budget. */
function mayGoUnready(pod: Pod, { spec, status = {} }: PodDisruptionBudget): boolean {
  if (isPodReady(pod)) return false;
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

/** The budget with one disruption less; throws when it allows none. */
function taken(budget: PodDisruptionBudget, pod: string, nowMs: number): PodDisruptionBudget {
  const { metadata: { name = '', generation = 0 } = {}, status = {} } = budget;
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {} } = status;
  if (observedGeneration < generation) throw createStillProcessedError(budget);
  if (Object.keys(disruptedPods).length > maxUnderWay)
    throw createBudgetRefusal(
      name,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    );
  if (disruptionsAllowed <= 0) {
    const { desiredHealthy = 0, currentHealthy = 0 } = status;
    const needs = `needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw createTooManyError(`The disruption budget ${name} ${needs}`);
  }
  const next = {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: disruptionsAllowed - 1,
      disruptedPods: { ...disruptedPods, [pod]: formatTime(nowMs) },
    },
  };
  return disruptionsAllowed === 1 ? withAllowance(next, nowMs) : next;
}

function createStillProcessedError({ metadata }: PodDisruptionBudget): StatusError {
  const text = `The disruption budget ${metadata?.name ?? ''} is still being processed by the server.`;
  return createTooManyError(text, 10);
}

function createTooManyError(message: string, retryAfterSeconds?: number): StatusError {
  const text = "Cannot evict pod as it would violate the pod's disruption budget.";
  return new StatusError('TooManyRequests', text, {
    details: {
      causes: [{ reason: 'DisruptionBudget', message }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  });
}

function createBudgetRefusal(name: string, why: string): StatusError {
  const kind = 'poddisruptionbudget';
  const group = 'policy';
  return new StatusError('Forbidden', `${kind}.${group} ${JSON.stringify(name)} is forbidden: ${why}`, {
    details: { name, group, kind },
  });
}

function isConflict(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'Conflict';
}

function deletionOf({ deleteOptions = {} }: Eviction): Deletion {
  const { gracePeriodSeconds, preconditions } = deleteOptions;
  const policy = propagationPolicies.find((known) => known === deleteOptions.propagationPolicy);
  return {
    ...preconditions,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: settleGrace(gracePeriodSeconds) }),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
  };
}
