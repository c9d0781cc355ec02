import type { Pod } from '../../../api/index.ts';
import { listEnvironmentReferences } from '../../../api/index.ts';
import type { EnvironmentSources, EnvironmentValue } from '../../containers/index.ts';
import { resolveEnvironment } from '../../containers/index.ts';
import { namespaceOf } from '../../downward/index.ts';
import type { KnownServices, PodObjects } from '../../objects/index.ts';
import { untilKnown } from '../../objects/index.ts';
import { originOf } from '../names.ts';
import { findContainer } from './pod-names.ts';
import type { ExecutorOptions } from './types.ts';
import type { PodWorker } from './worker.ts';

/* What the API gives to the containers of pods. */

/** A container whose start waits for the API holds up the others of its pod; after that it says what it waits for. */
const maxWaitMs = 1000;

type Parts = Pick<ExecutorOptions, 'objects' | 'services' | 'volumes' | 'clock'>;

/** Waits a little for what the environment of the container needs, where the API has not answered yet. */
export async function untilGiven(
  pod: Pod,
  container: string,
  { objects, services, clock }: Parts,
  signal: AbortSignal,
): Promise<void> {
  const spec = findContainer(pod, container);
  const references = spec === undefined ? [] : listEnvironmentReferences(spec);
  const namespace = namespaceOf(pod);
  const isKnown = () =>
    (isStatic(pod) || services.services().state !== 'waiting') &&
    references.every(({ resource, name }) => {
      const read = resource === 'configmaps' ? objects.configMap : objects.secret;
      return read.call(objects, namespace, name).state !== 'waiting';
    });
  const onChange = (listener: () => void) => {
    const both = new DisposableStack();
    both.use(objects.onChange(listener));
    both.use(services.onKnown(listener));
    return both;
  };
  await untilKnown({ isKnown, onChange, timeoutMs: maxWaitMs, clock, signal });
}

export async function environmentOf(
  pod: Pod,
  container: string,
  facts: EnvironmentSources['facts'],
  { objects, services, volumes }: Parts,
): Promise<readonly EnvironmentValue[]> {
  return await resolveEnvironment(pod, container, {
    ...{ facts, objects, services: services.services(), isStatic: isStatic(pod) },
    readFile: (volume, path) => volumes.readFile(pod, volume, path),
  });
}

const isStatic = (pod: Pod) => originOf(pod) !== 'api';

interface Given {
  readonly objects: Pick<PodObjects, 'hold' | 'onChange'>;
  readonly services: Pick<KnownServices, 'onKnown'>;
}

/** Has what the pod names followed, unless it ends: then nothing more of it is started. */
export function holdObjects({ objects }: Given, { pod, record }: PodWorker): void {
  if (record.termination === undefined && record.isReleased !== true) objects.hold(pod);
}

/** Tries containers again at once when what they may lack is there, or has changed. */
export function retryWhenGiven(
  { objects, services }: Given,
  workers: () => readonly PodWorker[],
): Disposable {
  const both = new DisposableStack();
  both.use(
    objects.onChange((_, podUids) => {
      for (const worker of workers()) if (podUids.has(worker.uid)) worker.retryConfig();
    }),
  );
  both.use(
    services.onKnown(() => {
      for (const worker of workers()) worker.retryConfig();
    }),
  );
  return both;
}
