import type { Service } from '../../base/index.ts';
import type { Identity, NodeApi } from '../identity/index.ts';
import { nodeApi } from '../identity/index.ts';
import type { PodSource, StaticPods } from '../pods/index.ts';
import {
  ApiPods,
  createStaticPods,
  formatStaticPods,
  joinSources,
  mirrorPods,
  podMetrics,
  staticPodRoutes,
} from '../pods/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

export interface PodParts {
  /** The static pods and those of the API for this node. */
  readonly source: PodSource;
  /** Whether all pods are known; then a pod that is not listed no longer exists. */
  isComplete(): boolean;
  readonly services: readonly Service[];
  readonly routes: readonly AgentRoute[];
  /** The pods of the API, and a client for writes about them; undefined without a control plane. */
  readonly onApi: { readonly pods: ApiPods; readonly api: NodeApi } | undefined;
  /** For `/statusz`. */
  text(): string;
}

/** For lists and writes; a watch has a connection of its own. */
const connections = 1;

/** Assembles the pods of this node. Without a control plane there are only static ones, and nothing is written. */
export function assemblePods(context: AgentContext, identity: Identity): PodParts {
  const { options, config, nodeName, metrics, stack } = context;
  const { folder, isStated, rescanMs } = config.staticPods;
  const common = { nodeName, metrics: podMetrics(metrics), ...part(context, 'pods') };
  const statics = folder === '' ? undefined : createStaticPods({ folder, isStated, rescanMs, ...common });
  const createService = (name: string, dependsOn: readonly string[], run: Service['run']): Service => ({
    ...{ name, dependsOn, onFailure: 'restart', run },
  });
  const services = statics === undefined ? [] : [createService('static-pods', ['lock'], statics.run)];
  const commonParts = { routes: staticPodRoutes(statics), text: () => formatStaticPods(statics) };
  const known = statics === undefined ? [] : [statics];
  const areStaticsComplete = () => statics?.isComplete() ?? true;
  if (options.controlPlane.mode === 'standalone')
    return {
      ...commonParts,
      services,
      onApi: undefined,
      isComplete: areStaticsComplete,
      source: stack.use(joinSources(known, common.log)),
    };
  const api = stack.use(nodeApi(identity, connections, options.groupSuffix));
  const onApi = new ApiPods({ api, ...common });
  services.push(createService('api-pods', ['identity'], onApi.run));
  const mirroredPods: Pick<StaticPods, 'pods' | 'isComplete' | 'onChange'> = statics ?? noStaticPods;
  const mirrors = mirrorPods({ api, statics: mirroredPods, onApi, ...common });
  const needed = ['api-pods', ...(statics === undefined ? [] : ['static-pods'])];
  services.push(createService('mirror-pods', needed, mirrors));
  const isComplete = () => areStaticsComplete() && onApi.isSynced();
  return {
    ...commonParts,
    services,
    onApi: { pods: onApi, api },
    isComplete,
    source: stack.use(joinSources([...known, onApi], common.log)),
  };
}

/** Without static pods, the mirrors of earlier ones are removed. */
const noStaticPods = {
  pods: () => [],
  isComplete: () => true,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};
