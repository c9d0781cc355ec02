import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageRoom } from '../images/index.ts';
import { ImageCollector } from '../images/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { Housekeeper } from '../pods/housekeeping/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import { LinkKeeper, LogRotator, listContainerLogs } from '../pods/logs/index.ts';
import type { PodManager } from '../pods/worker/index.ts';
import type { CallMetrics, PodCalls } from '../runtime/index.ts';
import type { PodVolumes } from '../volumes/index.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';
import { openRuntimeConnection, part } from './context.ts';
import type { PodCgroupsService } from './pod-cgroups.ts';

/**
 * Those of all containers, and of pods that wait for them or start with them. Undefined until all pods are known: after a start
 * pods may come whose containers are gone, and whose images would have to be pulled again.
 */
export function usedImages(
  { isComplete }: Pick<PodParts, 'isComplete'>,
  view: Pick<PodRuntimeView, 'isComplete' | 'pods'>,
  images: Pick<ImageRoom, 'wantedImages'>,
): ReadonlySet<string> | undefined {
  if (!isComplete() || !view.isComplete()) return undefined;
  const ofContainers = view
    .pods()
    .flatMap(({ containers }) =>
      containers.flatMap(({ imageId, imageRef, image }) => [imageId, imageRef, image]),
    );
  return images.wantedImages().union(new Set(ofContainers));
}

/** Removes images when the disk fills or they grow old; those of all containers and of pods about to start are in use. */
export function collectImages(
  context: AgentContext,
  pods: PodParts,
  events: EventRecorder,
  { view, images, metrics }: { view: PodRuntimeView; images: ImageRoom; metrics: CallMetrics },
): ImageCollector {
  const { config, nodeName } = context;
  return new ImageCollector({
    connection: openRuntimeConnection(context, 'images', metrics),
    timeoutMs: config.runtimeRequestTimeoutMs,
    settings: config.images.collection,
    usedImages: () => usedImages(pods, view, images),
    ...{ nodeName, events },
    dependsOn: ['pod-view'],
    ...part(context, 'images'),
  });
}

/** Rotates the logs of all containers that the runtime has. */
export function rotateLogs(
  context: AgentContext,
  parts: { calls: PodCalls; view: PodRuntimeView; onRotated: (result: 'done' | 'failed') => void },
): LogRotator {
  const { config } = context;
  const { calls, view, onRotated } = parts;
  return new LogRotator({
    logsDir: config.logs.folder,
    limits: () => config.logs,
    containers: () => listContainerLogs(view),
    reopen: (id) => calls.reopenLog(id),
    onRotated,
    ...part(context, 'pod-logs'),
  });
}

/** Where the reference has the logs of containers, by their names; log collectors look there. */
const linksDir = '/var/log/containers';

export function keepLogLinks(context: AgentContext, view: PodRuntimeView): LinkKeeper {
  const { config, options } = context;
  return new LinkKeeper({
    ...{ linksDir, logsDir: config.logs.folder, view },
    // the folder of a pod is made before anything else of it, and goes last
    isOwn: async (podUid) => isPodUid(podUid) && (await isFolder(join(options.rootDir, 'pods', podUid))),
    ...part(context, 'log-links'),
  });
}

/** Removes what is left of this agent's pods that neither a source nor the runtime has. */
export function keepHouse(
  context: AgentContext,
  pods: PodParts,
  parts: RunningParts & { readonly volumes: PodVolumes; readonly cgroups: PodCgroupsService },
): Housekeeper {
  const { options, config } = context;
  const { volumes, cgroups } = parts;
  return new Housekeeper({
    podsDir: join(options.rootDir, 'pods'),
    logsDir: config.logs.folder,
    isKnown: (uid) => isKnownPod(uid, pods, parts),
    unpublish: (uid) => volumes.unpublish(uid),
    removeGroup: (uid) => cgroups.remove(uid),
    releaseShared: () => volumes.releaseShared(),
    ...part(context, 'housekeeping'),
  });
}

interface RunningParts {
  view: PodRuntimeView;
  manager: PodManager;
}

/** Whether a source wants the pod, or anything of it is here; undefined while that is not known of all pods. */
export function isKnownPod(
  uid: string,
  { source, isComplete }: PodParts,
  { view, manager }: RunningParts,
): boolean | undefined {
  if (!isComplete() || !view.isComplete()) return undefined;
  const isWanted = source.pods().some(({ metadata }) => metadata?.uid === uid);
  return isWanted || manager.worker(uid) !== undefined || view.pod(uid) !== undefined;
}

const isPodUid = (text: string) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text);

async function isFolder(path: string): Promise<boolean> {
  return await stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
}
