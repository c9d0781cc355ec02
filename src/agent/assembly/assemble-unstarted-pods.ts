import type { Service } from '../../base/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { readRuntimePods, unstartedPods } from '../pods/unstarted/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { defaultEndpoints, openConnection } from '../runtime/index.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** Assembles the service that answers for the pods of the API that are bound to this node, as long as none is started. */
export function assembleUnstartedPods(
  context: AgentContext,
  onApi: PodParts['onApi'],
  events: EventRecorder,
  runtime: Runtime,
): readonly Service[] {
  if (onApi === undefined) return [];
  const { config, nodeName, stack } = context;
  const endpoints =
    config.containerRuntimeEndpoint === '' ? defaultEndpoints : [config.containerRuntimeEndpoint];
  const connection = stack.use(openConnection(endpoints));
  const run = unstartedPods({
    api: onApi.api,
    nodeName,
    onApi: onApi.pods,
    events,
    inRuntime: (signal) => readRuntimePods(connection, endpoints, signal),
    runtimeName: () => runtime.status().name,
    onRuntimeChange: (listener) => runtime.onStatusChange(listener),
    ...part(context, 'pods'),
  });
  return [{ name: 'unstarted-pods', dependsOn: ['api-pods'], onFailure: 'restart', run }];
}
