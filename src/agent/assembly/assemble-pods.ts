import type { Service } from '../../base/index.ts';
import type { Identity } from '../identity/index.ts';
import { nodeApi } from '../identity/index.ts';
import type { PodSource, StaticPods } from '../pods/index.ts';
import {
  createApiPods,
  createStaticPods,
  joinSources,
  mirrorPods,
  podMetrics,
  staticPodRoutes,
  staticPodsText,
} from '../pods/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

export interface PodParts {
  /** Static pods and those of the API that are meant for this node. */
  readonly source: PodSource;
  /** Whether all of them are known: one that is not there is gone then. */
  isComplete(): boolean;
  readonly services: readonly Service[];
  readonly routes: readonly AgentRoute[];
  /** For `/statusz`. */
  text(): string;
}

/** One for lists and writes; a watch has one of its own. */
const connections = 1;

/** The pods of this node. Without a control plane there are static ones only, and nothing is written anywhere. */
export function assemblePods(context: AgentContext, identity: Identity): PodParts {
  const { options, config, nodeName, metrics, stack } = context;
  const { folder, isStated, rescanMs } = config.staticPods;
  const common = { nodeName, metrics: podMetrics(metrics), ...part(context, 'pods') };
  const statics = folder === '' ? undefined : createStaticPods({ folder, isStated, rescanMs, ...common });
  const restarted = (name: string, dependsOn: readonly string[], run: Service['run']): Service => ({
    ...{ name, dependsOn, onFailure: 'restart', run },
  });
  const services = statics === undefined ? [] : [restarted('static-pods', ['lock'], statics.run)];
  const shown = { routes: staticPodRoutes(statics), text: () => staticPodsText(statics) };
  const known = statics === undefined ? [] : [statics];
  const areRead = () => statics?.isComplete() ?? true;
  if (options.controlPlane.mode === 'standalone')
    return { ...shown, services, isComplete: areRead, source: stack.use(joinSources(known, common.log)) };
  const api = stack.use(nodeApi(identity.api, connections, options.groupSuffix));
  const onApi = createApiPods({ api, ...common });
  services.push(restarted('api-pods', ['identity'], onApi.run));
  const mirrored: Pick<StaticPods, 'pods' | 'isComplete' | 'onChange'> = statics ?? nothing;
  const mirrors = mirrorPods({ api, statics: mirrored, onApi, ...common });
  const needed = ['api-pods', ...(statics === undefined ? [] : ['static-pods'])];
  services.push(restarted('mirror-pods', needed, mirrors));
  const isComplete = () => areRead() && onApi.isSynced();
  return { ...shown, services, isComplete, source: stack.use(joinSources([...known, onApi], common.log)) };
}

/** Where there are no static pods the mirrors of earlier ones go. */
const nothing = {
  pods: () => [],
  isComplete: () => true,
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};
