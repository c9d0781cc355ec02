import { join } from 'node:path';
import { watchFolder } from '../../base/folder-watch/index.ts';
import type { Service } from '../../base/index.ts';
import type { Identity } from '../identity/index.ts';
import { nodeApi } from '../identity/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { createEventRecorder, silentRecorder } from '../node/events/index.ts';
import type { PodSource } from '../pods/index.ts';
import { profileLimitBytes } from '../seccomp/index.ts';
import type { SeccompRegistry } from '../seccomp/registry/index.ts';
import { SeccompRegistryService, seccompRoutes } from '../seccomp/registry/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import { createLazyJudge } from './profile-resolver.ts';

export interface EventParts {
  readonly recorder: EventRecorder;
  readonly services: readonly Service[];
}

/** Assembles the recorder of Events; in standalone mode it records nothing. */
export function assembleEvents(context: AgentContext, identity: Identity): EventParts {
  const { options, nodeName, metrics, stack } = context;
  if (options.controlPlane.mode === 'standalone') return { recorder: silentRecorder, services: [] };
  const recorder = createEventRecorder({
    nodeName,
    api: stack.use(nodeApi(identity, 1, options.groupSuffix)),
    dependsOn: ['identity'],
    metrics,
    ...part(context, 'events'),
  });
  return { recorder, services: [recorder] };
}

export interface SeccompParts {
  readonly registry: SeccompRegistry;
  readonly services: readonly Service[];
  readonly routes: readonly AgentRoute[];
}

const maxEntries = 10_000;
const maxDepth = 8;

/** Assembles the registry of the seccomp profiles in the folder `seccomp` of the root folder, which `pods` refer to. */
export function assembleSeccomp(context: AgentContext, pods: PodSource, events: EventRecorder): SeccompParts {
  const { options, nodeName, metrics } = context;
  const folder = join(options.rootDir, 'seccomp');
  const { clock, log } = part(context, 'seccomp');
  const registry = new SeccompRegistryService({
    folder,
    watch: watchFolder({ folder, depth: maxDepth, maxEntries, clock, log }),
    judge: createLazyJudge(),
    limitBytes: profileLimitBytes,
    pods,
    events,
    nodeName,
    metrics,
    dependsOn: ['lock'],
    clock,
    log,
  });
  return { registry, services: [registry], routes: seccompRoutes(folder, registry) };
}
