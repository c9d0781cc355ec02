import type { PlacementExplanation, PlacementExplanationStatus, Pod } from '../../../api/index.ts';
import {
  forbidden,
  leaseKind,
  placementExplanationKind,
  podDisruptionBudgetKind,
  podKind,
} from '../../../api/index.ts';
import type { Clock, Logger } from '../../../base/index.ts';
import type { User } from '../../authn/index.ts';
import type { Authorizer } from '../../authz/index.ts';
import { ParsedObjects } from '../../controllers/index.ts';
import type { Operation, Registry } from '../../registry/index.ts';
import { withoutStatus } from '../../reviews/index.ts';
import { readPending } from '../cluster/pod-facts.ts';
import type { RunningScheduler } from '../cluster-reader.ts';
import { ClusterReader } from '../cluster-reader.ts';
import { createLookups, schedulerReader } from '../lookups.ts';
import type { Victims } from '../preemption.ts';
import { Scheduler } from '../scheduler.ts';
import type { SchedulerSettings } from '../service.ts';
import { defaultName, taintOf } from '../service.ts';
import type { Judgement } from './judge-nodes.ts';
import { judgeNodes } from './judge-nodes.ts';
import { describeProgress, findObstacle } from './why-waiting.ts';

export interface PlacementExplanationOptions {
  readonly authorizer: Authorizer;
  readonly running: RunningScheduler;
  /** False: the control plane places no pods. */
  readonly settings: SchedulerSettings | false;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How much of each is named: where all nodes are asked for, and otherwise. */
const limits = {
  all: { names: 10_000, groups: 100, preemptions: 100, pods: 50 },
  some: { names: 5, groups: 20, preemptions: 5, pods: 10 },
};

/**
 * The operation PlacementExplanation: why has a pod no node? Asks what the scheduler knows where it runs in this process, and
 * otherwise reads the cluster. The caller must be allowed to get the pod; nodes are named to those who may list nodes, pods that
 * would have to end to those who may list all pods.
 */
export function createPlacementExplanation(
  options: PlacementExplanationOptions,
): Operation<PlacementExplanation> {
  const reading = new ClusterReading(options);
  return {
    body: placementExplanationKind,
    prepare: ({ body, namespace }) => ({ ...withoutStatus(body), metadata: { ...body.metadata, namespace } }),
    async run({ registry, namespace, body, context }) {
      const { podName: name, allNodes = false } = body.spec;
      const access = new Access(options.authorizer, context.user);
      await access.mustGetPod(namespace, name);
      const pods = registry.of(podKind);
      const pod = pods.encoding.read(pods.get(namespace, name));
      const status = await explain(pod, registry, options, reading);
      return {
        object: {
          ...body,
          status: limited(status, allNodes ? limits.all : limits.some, await access.sees()),
        },
      };
    },
  };
}

interface Answer extends Pick<PlacementExplanationStatus, 'waitsFor'> {
  readonly nodeName?: string;
  readonly schedulerName?: string;
  readonly judgement?: Judgement;
}

async function explain(
  pod: Pod,
  registry: Registry,
  { running, settings, clock, log }: PlacementExplanationOptions,
  reading: ClusterReading,
): Promise<Answer> {
  const { nodeName, schedulerName } = pod.spec ?? {};
  const own = settings === false ? undefined : (settings.name ?? defaultName);
  const leases = new ParsedObjects(registry, leaseKind, log, schedulerReader);
  const lease = own === defaultName ? leases.find('kube-system', 'kube-scheduler')?.spec : undefined;
  const obstacle = findObstacle(pod, { own, lease, nowMs: clock.now() });
  const found = { ...(nodeName ? { nodeName } : {}), ...(schedulerName ? { schedulerName } : {}) };
  if (obstacle !== undefined && isSettled.has(obstacle.reason)) return { waitsFor: obstacle, ...found };
  const pending = readPending(pod);
  const scheduler = running.current ?? (await reading.read(registry));
  const binding = scheduler.bindingOf(pending);
  const judgement = await judgeNodes(pending, scheduler.world);
  const { fits, summary } = judgement;
  const progress = { binding, failures: scheduler.failuresOf(pending), fits: fits.length, summary };
  return { waitsFor: obstacle ?? describeProgress(pod, progress), ...found, judgement };
}

/** Then no node is asked any more. */
const isSettled: ReadonlySet<string> = new Set(['Assigned', 'Ended', 'BeingDeleted']);

type Limits = (typeof limits)['all'];

function limited({ judgement, ...answer }: Answer, limit: Limits, sees: Sees): PlacementExplanationStatus {
  if (judgement === undefined) return answer;
  const { nodeCount, fits, refused, preemptions } = judgement;
  const named = (all: readonly string[]) => ({
    count: all.length,
    ...(sees.nodes ? { names: [...all].sort().slice(0, limit.names) } : {}),
  });
  const hidden = refused.slice(limit.groups).reduce((sum, { names }) => sum + names.length, 0);
  return {
    ...answer,
    nodeCount,
    fits: named(fits),
    refused: refused.slice(0, limit.groups).map(({ filter, message, names }) => ({
      ...(filter === '' ? {} : { filter }),
      message,
      nodes: named(names),
    })),
    ...(hidden === 0 ? {} : { moreRefused: hidden }),
    preemptions: preemptions.slice(0, limit.preemptions).map((each) => toPreemption(each, limit, sees)),
    ...(preemptions.length > limit.preemptions
      ? { morePreemptions: preemptions.length - limit.preemptions }
      : {}),
  };
}

function toPreemption({ node, pods, violations }: Victims, limit: Limits, sees: Sees) {
  return {
    ...(sees.nodes ? { node: node.name } : {}),
    podCount: pods.length,
    ...(sees.pods ? { pods: pods.slice(0, limit.pods).map(({ key }) => key) } : {}),
    ...(violations === 0 ? {} : { violations }),
  };
}

/** What the caller may have named. */
interface Sees {
  readonly nodes: boolean;
  readonly pods: boolean;
}

class Access {
  readonly #authorizer: Authorizer;
  readonly #user: User;

  constructor(authorizer: Authorizer, user: User) {
    this.#authorizer = authorizer;
    this.#user = user;
  }

  /** Throws Forbidden, as a request for the pod itself would. */
  async mustGetPod(namespace: string, name: string): Promise<void> {
    const asked = { group: '', resource: 'pods', namespace, name };
    const { verdict, reason } = await this.#ask('get', asked);
    if (verdict !== 'allow') throw forbidden(asked, { user: this.#user.name, verb: 'get', reason });
  }

  async sees(): Promise<Sees> {
    const mayList = async (resource: string) =>
      (await this.#ask('list', { group: '', resource, namespace: '', name: '' })).verdict === 'allow';
    return { nodes: await mayList('nodes'), pods: await mayList('pods') };
  }

  #ask(verb: string, asked: { group: string; resource: string; namespace: string; name: string }) {
    return this.#authorizer.authorize(this.#user, { ...asked, verb, version: 'v1', subresource: '' });
  }
}

/** Reads the cluster where no scheduler runs; requests that come meanwhile share what is read. */
class ClusterReading {
  readonly #options: PlacementExplanationOptions;
  #underWay: Promise<Scheduler> | undefined;

  constructor(options: PlacementExplanationOptions) {
    this.#options = options;
  }

  read(registry: Registry): Promise<Scheduler> {
    this.#underWay ??= this.#read(registry).finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #read(registry: Registry): Promise<Scheduler> {
    const { clock, log } = this.#options;
    const settings = this.#options.settings || {};
    const nothingChosen = { chosenFor: () => undefined, chosenNode: () => undefined };
    const lookups = createLookups(registry, taintOf(settings), nothingChosen, log);
    const budgets = new ParsedObjects(registry, podDisruptionBudgetKind, log, schedulerReader);
    const { name = defaultName } = settings;
    const scheduler = new Scheduler({ lookups, name, budgets: () => budgets.list(''), clock });
    await new ClusterReader(registry, scheduler, log).readAll();
    return scheduler;
  }
}
