import { join } from 'node:path';
import type { Pod } from '../../api/index.ts';
import { watchFolder } from '../../base/folder-watch/index.ts';
import type { Service } from '../../base/index.ts';
import type { Identity } from '../identity/index.ts';
import { nodeApi } from '../identity/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { createEventRecorder, silentRecorder } from '../node/events/index.ts';
import type { PodSource } from '../pods/index.ts';
import type { SecurityProfiles } from '../pods/worker/index.ts';
import type { Judgement } from '../seccomp/index.ts';
import { loadJudge, profileLimitBytes, resolveAppArmor, resolveSeccomp } from '../seccomp/index.ts';
import type { SeccompRegistry } from '../seccomp/registry/index.ts';
import {
  createProfileFinder,
  readHostAppArmor,
  SeccompRegistryService,
  seccompRoutes,
} from '../seccomp/registry/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

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
  const { nodeName, metrics } = context;
  const folder = profileFolder(context);
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

/** The security profiles with which a container is to be made now, or why it cannot be (specification, section 2.8). */
export function createProfileResolver(
  context: AgentContext,
): (pod: Pod, container: string) => Promise<SecurityProfiles> {
  const folder = profileFolder(context);
  const judge = createLazyJudge();
  const find = createProfileFinder({ folder, judge, limitBytes: profileLimitBytes });
  return async (pod, container) => {
    const { seccompDefault } = context.live.current;
    const seccomp = await resolveSeccomp(pod, container, { seccompDefault, folder, find });
    if (seccomp.type === 'refused') return seccomp;
    const appArmor = resolveAppArmor(pod, container, await readHostAppArmor());
    if (appArmor.type === 'refused') return appArmor;
    return { seccomp: seccomp.profile, appArmor: appArmor.profile };
  };
}

/** Loads the judge when it is first needed: most nodes have no profiles, and need no table of system calls in memory. */
function createLazyJudge(): (bytes: Uint8Array) => Promise<Judgement> {
  let loading: ReturnType<typeof loadJudge> | undefined;
  return async (bytes) => {
    loading ??= loadJudge().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return (await loading)(bytes);
  };
}

function profileFolder({ options }: AgentContext): string {
  return join(options.rootDir, 'seccomp');
}
