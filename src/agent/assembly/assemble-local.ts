import type { Pod } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import type { Checkpointer } from '../checkpoint/index.ts';
import type { Identity } from '../identity/index.ts';
import { pluginRoutes } from '../plugins/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { DeviceParts } from './assemble-devices.ts';
import { assembleDevices } from './assemble-devices.ts';
import { assembleDrivers } from './assemble-drivers.ts';
import { assembleKubeletPlugins, assemblePlugins } from './assemble-plugins.ts';
import type { PodParts } from './assemble-pods.ts';
import { assemblePods } from './assemble-pods.ts';
import { assembleResources, podAllocations } from './assemble-resources.ts';
import type { RunningPods } from './assemble-running-pods.ts';
import { assembleRunningPods } from './assemble-running-pods.ts';
import { assembleEvents, assembleSeccomp } from './assemble-seccomp.ts';
import type { AgentContext } from './context.ts';

export interface LocalParts {
  readonly services: readonly Service[];
  readonly routes: readonly AgentRoute[];
  readonly pods: PodParts;
  readonly devices: DeviceParts;
  readonly running: RunningPods;
}

/**
 * Assembles what the agent manages on its node: pods, seccomp profiles, plugins and their devices, and the devices that
 * containers hold (specification, section 2.6).
 */
export async function assembleLocal(
  context: AgentContext,
  identity: Identity,
  runtime: Runtime,
  checkpointer: Pick<Checkpointer, 'beforeStop' | 'isUnderWay' | 'onBegin'>,
): Promise<LocalParts> {
  const pods = assemblePods(context, identity);
  const events = assembleEvents(context, identity);
  const seccomp = assembleSeccomp(context, pods.source, events.recorder);
  const devices = assembleDevices(context);
  const { inventory, remember } = devices;
  const { source, isComplete } = pods;
  let held: () => readonly Pod[] = () => [];
  // a pod that no source has any more keeps its devices until it has ended
  const users = {
    pods() {
      const wanted = source.pods();
      const uids = new Set(wanted.map(({ metadata }) => metadata?.uid));
      return [...wanted, ...held().filter(({ metadata }) => !uids.has(metadata?.uid))];
    },
    onChange: source.onChange,
  };
  const resources = assembleResources(context, { inventory, remember, pods: users, isComplete });
  const drivers = assembleDrivers(context, identity);
  const running = await assembleRunningPods(context, {
    ...{ runtime, pods, devices, drivers, checkpointer, identity },
    events: events.recorder,
    allocator: resources.allocator,
  });
  held = running.held;
  const handlers = [devices.handler, ...drivers.handlers];
  const plugins = assemblePlugins(context, handlers);
  const kubeletPlugins = assembleKubeletPlugins(context, handlers, plugins);
  return {
    services: [
      plugins.service,
      ...events.services,
      ...seccomp.services,
      ...pods.services,
      ...running.services,
      ...drivers.services,
      ...devices.services([...resources.atKubeletPaths, ...kubeletPlugins.parts]),
      ...resources.services,
      podAllocations(context, { pods: users, isComplete, ...running.allocations }),
    ],
    routes: [
      ...pluginRoutes(kubeletPlugins.joined),
      ...devices.routes(resources.users),
      ...pods.routes,
      ...running.routes,
      ...seccomp.routes,
    ],
    ...{ pods, devices, running },
  };
}
