import type { Pod } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import type { Identity, NodeApi } from '../identity/index.ts';
import { nodeApi } from '../identity/index.ts';
import type { KnownServices, PodObjects } from '../objects/index.ts';
import { NodeObjects, NodeServices, objectsWithoutApi, servicesWithoutApi } from '../objects/index.ts';
import type { PodMetrics, PodSource, RefusedManifest, StaticPods } from '../pods/index.ts';
import {
  ApiPods,
  createStaticPods,
  formatStaticPods,
  joinSources,
  listRefused,
  mirrorPods,
  podMetrics,
  staticPodRoutes,
  UrlPods,
} from '../pods/index.ts';
import type { PodStatus } from '../pods/status/index.ts';
import { createPodFinder, StatusWriter, statusMetrics } from '../pods/status/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { AgentContext } from './context.ts';
import { part, restartedService } from './context.ts';

export interface PodParts {
  /** The static pods and those of the API for this node. */
  readonly source: PodSource;
  /** Whether all pods are known; then a pod that is not listed no longer exists. */
  isComplete(): boolean;
  readonly services: readonly Service[];
  readonly routes: readonly AgentRoute[];
  /** What there is with a control plane only. */
  readonly onApi: PodsOnApi | undefined;
  /** For `/statusz`. */
  text(): string;
  /** Manifests of the folder and the URL that are not used as they are. */
  refusedManifests(): readonly RefusedManifest[];
}

export interface PodsOnApi {
  readonly pods: ApiPods;
  /** For lists and writes about them. */
  readonly api: NodeApi;
  readonly writer: StatusWriter;
  /** Shows the static pods on the API, with the statuses that these have. */
  mirrors(statuses: PodStatuses): Service;
}

/** What becomes of the pods, from where they run. */
export interface PodStatuses {
  statusOf(podUid: string): PodStatus | undefined;
  /** Whether a pod of a manifest, of that name, has a status. */
  hasStatic(name: string): boolean;
  onChange(listener: () => void): Disposable;
}

/** For lists and writes; a watch has a connection of its own. */
const connections = 8;

/** Assembles the pods of this node. Without a control plane there are only static ones, and nothing is written. */
export function assemblePods(context: AgentContext, identity: Identity): PodParts {
  const { options, stack } = context;
  const { log } = part(context, 'pods');
  const metrics = podMetrics(context.metrics);
  const { folder, url, sources, services } = assembleStatics(context, metrics);
  const statics = joinStatics(sources, stack.use(joinSources(sources, log)));
  const onApi =
    options.controlPlane.mode === 'standalone'
      ? undefined
      : assembleOnApi(context, identity, { statics, metrics });
  const all = onApi === undefined ? [statics] : [statics, onApi.pods];
  return {
    routes: staticPodRoutes(folder),
    text: () => formatStaticPods(folder),
    refusedManifests: () => listRefused(folder?.verdicts() ?? [], [folder?.problem(), url?.problem()]),
    isComplete: () => statics.isComplete() && (onApi?.pods.isSynced() ?? true),
    source: stack.use(joinSources(all, log)),
    onApi,
    services: [
      ...services,
      ...(onApi === undefined
        ? []
        : [
            restartedService('api-pods', ['identity'], onApi.pods.run),
            restartedService('pod-status', ['api-pods'], onApi.writer.run),
          ]),
    ],
  };
}

type StaticSource = Pick<StaticPods, 'pods' | 'isComplete' | 'onChange'>;

interface Statics {
  /** Undefined: the configuration names no folder. */
  readonly folder: StaticPods | undefined;
  readonly url: UrlPods | undefined;
  readonly sources: readonly StaticSource[];
  readonly services: readonly Service[];
}

/** The manifests of a folder, and those of a URL. */
function assembleStatics(context: AgentContext, metrics: PodMetrics): Statics {
  const { config, nodeName } = context;
  const common = { nodeName, metrics, ...part(context, 'pods') };
  const { folder: path, isStated, rescanMs } = config.staticPods;
  const folder = path === '' ? undefined : createStaticPods({ folder: path, isStated, rescanMs, ...common });
  const { url: settings } = config.pods;
  const url = settings === undefined ? undefined : new UrlPods({ ...settings, ...common });
  return {
    ...{ folder, url },
    sources: [folder, url].filter((each) => each !== undefined),
    services: [
      ...(folder === undefined ? [] : [restartedService('static-pods', ['lock'], folder.run)]),
      ...(url === undefined ? [] : [restartedService('url-pods', ['lock'], url.run)]),
    ],
  };
}

/** Without static pods, the mirrors of earlier ones are removed. */
function joinStatics(sources: readonly StaticSource[], { pods, onChange }: PodSource): StaticSource {
  return { pods, onChange, isComplete: () => sources.every((source) => source.isComplete()) };
}

function assembleOnApi(
  context: AgentContext,
  identity: Identity,
  { statics, metrics }: { statics: StaticSource; metrics: PodMetrics },
): PodsOnApi {
  const { options, nodeName, stack } = context;
  const common = { nodeName, metrics, ...part(context, 'pods') };
  const api = stack.use(nodeApi(identity, connections, options.groupSuffix));
  const pods = new ApiPods({ api, ...common });
  const writer = new StatusWriter({
    api,
    watched: createPodFinder(pods),
    onWatched: (listener) => pods.onChange(listener),
    metrics: statusMetrics(context.metrics),
    ...part(context, 'pod-status'),
  });
  const mirrors = (statuses: PodStatuses) => {
    const status = {
      writer,
      statusOf: ({ metadata }: Pod) => statuses.statusOf(metadata?.uid ?? ''),
      isEnding: (name: string) => statuses.hasStatic(name),
      onStatus: (listener: () => void) => statuses.onChange(listener),
    };
    const run = mirrorPods({ api, statics, onApi: pods, status, ...common });
    return restartedService('mirror-pods', ['api-pods'], run);
  };
  return { pods, api, writer, mirrors };
}

export interface ObjectParts {
  readonly objects: PodObjects;
  readonly services: KnownServices;
  /** What follows them, and must be stopped after the pods. */
  readonly lifetimes: readonly Service[];
}

/** Assembles what pods are given by the API: the ConfigMaps and Secrets that they name, and the Services. */
export function assembleObjects(context: AgentContext, { onApi }: Pick<PodParts, 'onApi'>): ObjectParts {
  if (onApi === undefined) return { objects: objectsWithoutApi, services: servicesWithoutApi, lifetimes: [] };
  const common = { api: onApi.api, ...part(context, 'pods') };
  const objects = new NodeObjects(common);
  const services = new NodeServices(common);
  return {
    ...{ objects, services },
    lifetimes: [
      restartedService('pod-objects', ['identity'], objects.run),
      restartedService('services', ['identity'], services.run),
    ],
  };
}
