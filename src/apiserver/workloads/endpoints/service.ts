import { isDeepStrictEqual } from 'node:util';
import type { Service as ApiService, EndpointSlice, Node, OwnerReference, Pod } from '../../../api/index.ts';
import { endpointSliceKind, endpointsKind, nodeKind, podKind, serviceKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { ignoreRace } from '../../controllers/index.ts';
import { controllerReference } from '../claims.ts';
import { context, warning } from '../pod-control.ts';
import type { WorkloadOptions, WorkloadRun, WorkloadTools } from '../workload-controller.ts';
import { workloadController } from '../workload-controller.ts';
import { KnownObjects } from './known-objects.ts';
import { maxMirrored, mirrorManager, planMirror } from './mirror.ts';
import type { SlicePlan } from './plan-slices.ts';
import { managedByLabel, planSlices, serviceNameLabel, sliceManager } from './plan-slices.ts';
import { hasSelector, isSelected } from './pod-endpoints.ts';
import { endpointsOf } from './subsets.ts';

const zoneLabel = 'topology.kubernetes.io/zone';

/**
 * Says of each Service with a selector where its pods are, in EndpointSlices and Endpoints: proxies, DNS servers and others
 * that carry traffic to services work by these. Those of a service without a selector belong to who made them; Endpoints
 * that clients have made are mirrored into slices.
 */
export function endpoints(options: WorkloadOptions): Service {
  const form = { name: 'endpoints', component: 'endpoint-slice-controller', kind: serviceKind };
  return workloadController(form, options, (tools) => new EndpointsRun(options, tools));
}

class EndpointsRun implements WorkloadRun<ApiService> {
  readonly follows: WorkloadRun<ApiService>['follows'];
  readonly #services: KnownObjects<ApiService>;
  readonly #pods: KnownObjects<Pod>;
  readonly #slices: KnownObjects<EndpointSlice>;
  readonly #nodes: KnownObjects<Node>;
  readonly #tools: WorkloadTools<ApiService>;
  readonly #options: WorkloadOptions;

  constructor(options: WorkloadOptions, tools: WorkloadTools<ApiService>) {
    this.#options = options;
    this.#tools = tools;
    this.#services = new KnownObjects(options, serviceKind);
    this.#pods = new KnownObjects(options, podKind);
    this.#slices = new KnownObjects(options, endpointSliceKind);
    this.#nodes = new KnownObjects(options, nodeKind);
    const endpointsResource = options.registry.of(endpointsKind);
    const enqueueOfEndpoints = (key: string) => {
      const { namespace, name } = endpointsResource.placeOf(key);
      this.#enqueue(this.#services.find(namespace, name));
    };
    this.follows = [
      this.#services.follow(() => undefined), // enqueued by the form
      this.#nodes.follow((now, before) => this.#onNode(now, before)),
      this.#pods.follow((now, before) => this.#onPod(now, before)),
      this.#slices.follow((now, before) => this.#onSlice(now ?? before)),
      {
        resource: endpointsResource,
        added: ({ key }) => enqueueOfEndpoints(key),
        changed: ({ key }) => enqueueOfEndpoints(key),
        gone: ({ key }) => enqueueOfEndpoints(key),
      },
    ];
  }

  async work(service: ApiService): Promise<undefined> {
    const { metadata = {} } = service;
    const { namespace = '', deletionTimestamp } = metadata;
    if (deletionTimestamp !== undefined) return;
    this.#slices.mustBeKnown(namespace);
    if (!hasSelector(service)) return await this.#mirror(service, namespace);
    this.#pods.mustBeKnown(namespace);
    const pods = this.#pods.in(namespace).filter((pod) => isSelected(service, pod));
    const own = this.#slicesOf(service, namespace);
    const plan = planSlices(service, pods, own, (node) => this.#zoneOf(node));
    await this.#carryOut(plan, namespace, this.#ownerOf(service));
    await this.#carryOut(planMirror(undefined, this.#mirrorsOf(service, namespace)), namespace, undefined);
    await this.#writeEndpoints(service, namespace, pods);
  }

  /** The Endpoints of a service go with it, those of clients, too. */
  async gone(key: string): Promise<void> {
    const { namespace, name } = this.#tools.resource.placeOf(key);
    await this.#options.registry.of(endpointsKind).delete(namespace, name, {}, context).catch(ignoreRace);
  }

  async #mirror(service: ApiService, namespace: string): Promise<undefined> {
    const resource = this.#options.registry.of(endpointsKind);
    const { storage, encoding } = resource;
    const state = storage.lookup(resource.prefix(namespace) + (service.metadata?.name ?? ''));
    const stored = state && storage.get(state.key);
    if (state !== undefined && stored === undefined) return; // it cannot be read: its slices stay as they are
    const endpoints = stored && encoding.read(stored);
    const { skipped, ...plan } = planMirror(endpoints, this.#mirrorsOf(service, namespace));
    const { groupSuffix } = this.#options.registry;
    const owner = endpoints && controllerReference(endpointsKind, groupSuffix, endpoints);
    await this.#carryOut(plan, namespace, owner);
    if (owner === undefined || skipped === 0) return;
    const tooMany = `A max of ${maxMirrored} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
    this.#tools.report({ reference: owner, namespace }, warning('TooManyAddressesToMirror', tooMany));
  }

  /** Writes slices as they are planned; `owner`: what new ones go with. */
  async #carryOut(plan: SlicePlan, namespace: string, owner: OwnerReference | undefined): Promise<void> {
    const resource = this.#slices.resource;
    // before another one is deleted: nobody finds fewer endpoints than there are
    for (const slice of plan.create) {
      const owned = owner && { generateName: `${owner.name}-`, ownerReferences: [owner] };
      await resource.create(namespace, { ...slice, metadata: { ...slice.metadata, ...owned } }, context);
    }
    for (const slice of plan.update)
      await resource.update(namespace, slice.metadata?.name ?? '', slice, '', context).catch(ignoreRace);
    for (const { metadata } of plan.delete) {
      const { name = '', uid = '' } = metadata ?? {};
      await resource.delete(namespace, name, { uid }, context).catch(ignoreRace);
    }
  }

  /** Those that we keep for a service: a slice of another writer is theirs. */
  #slicesOf({ metadata: service }: ApiService, namespace: string): EndpointSlice[] {
    return this.#slices
      .in(namespace)
      .filter(
        ({ metadata = {} }) =>
          isOf(metadata.labels, sliceManager, service?.name) && metadata.deletionTimestamp === undefined,
      )
      .filter(({ metadata }) => (metadata?.ownerReferences ?? []).some(({ uid }) => uid === service?.uid));
  }

  #mirrorsOf({ metadata: service }: ApiService, namespace: string): EndpointSlice[] {
    return this.#slices
      .in(namespace)
      .filter(
        ({ metadata = {} }) =>
          isOf(metadata.labels, mirrorManager, service?.name) && metadata.deletionTimestamp === undefined,
      );
  }

  async #writeEndpoints(service: ApiService, namespace: string, pods: readonly Pod[]): Promise<void> {
    const { name = '' } = service.metadata ?? {};
    const resource = this.#options.registry.of(endpointsKind);
    const { storage, encoding } = resource;
    const state = storage.lookup(resource.prefix(namespace) + name);
    if (state === undefined) {
      const made = endpointsOf(service, pods, undefined);
      const metadata = { ...made.metadata, name, ownerReferences: [this.#ownerOf(service)] };
      await resource.create(namespace, { ...made, metadata }, context).catch(ignoreRace);
      return;
    }
    const stored = storage.get(state.key);
    if (stored === undefined) return; // it cannot be read: nothing is written over it
    const before = encoding.read(stored);
    const next = endpointsOf(service, pods, before);
    const isSame =
      isDeepStrictEqual(before.subsets ?? [], next.subsets ?? []) &&
      isDeepStrictEqual(before.metadata?.labels, next.metadata?.labels) &&
      isDeepStrictEqual(before.metadata?.annotations, next.metadata?.annotations);
    if (!isSame) await resource.update(namespace, name, next, '', context).catch(ignoreRace);
  }

  #ownerOf(service: ApiService) {
    return controllerReference(serviceKind, this.#options.registry.groupSuffix, service);
  }

  #zoneOf(node: string): string | undefined {
    return node === '' ? undefined : this.#nodes.find('', node)?.metadata?.labels?.[zoneLabel];
  }

  #enqueue(service: ApiService | undefined): void {
    if (service === undefined) return;
    const { namespace = '', name = '' } = service.metadata ?? {};
    this.#tools.enqueue(this.#tools.resource.prefix(namespace) + name);
  }

  #onPod(now: Pod | undefined, before: Pod | undefined): void {
    const namespace = (now ?? before)?.metadata?.namespace ?? '';
    for (const service of this.#services.in(namespace)) {
      const isConcerned = [now, before].some((pod) => pod !== undefined && isSelected(service, pod));
      if (isConcerned) this.#enqueue(service);
    }
  }

  #onSlice(slice: EndpointSlice | undefined): void {
    const { namespace = '', labels = {} } = slice?.metadata ?? {};
    const manager = labels[managedByLabel];
    if (manager === sliceManager || manager === mirrorManager)
      this.#enqueue(this.#services.find(namespace, labels[serviceNameLabel] ?? ''));
  }

  /** Pods may be there before their node is. */
  #onNode(now: Node | undefined, before: Node | undefined): void {
    if (now?.metadata?.labels?.[zoneLabel] === before?.metadata?.labels?.[zoneLabel]) return;
    const name = (now ?? before)?.metadata?.name;
    for (const pod of this.#pods.all()) if (pod.spec?.nodeName === name) this.#onPod(pod, undefined);
  }
}

function isOf(
  labels: Readonly<Record<string, string>> = {},
  manager: string,
  service: string | undefined,
): boolean {
  return labels[managedByLabel] === manager && labels[serviceNameLabel] === service;
}
