import type { Pod } from '../../../api/index.ts';
import { RefusedError } from '../../server/index.ts';
import type { PodStatus } from '../status/index.ts';

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** Whether the pod has a container of that name, of whatever sort. */
export function hasContainer({ spec }: Pod, name: string): boolean {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].some((each) => each.name === name);
}

/**
 * The id, at the runtime, of the container whose log is asked for: the one that there is, else the last that there was; `isPrevious`:
 * the one before. Throws 400 with the reference's reason where there is none.
 */
export function chooseContainer(pod: string, name: string, status: PodStatus, isPrevious: boolean): string {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const all = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
  const found = all.find((each) => each.name === name);
  const which = `container "${name}" in pod "${pod}"`;
  if (found === undefined) throw noLog(`${which} is not available`);
  const last = found.lastState?.terminated?.containerID ?? '';
  if (isPrevious) {
    if (last === '') throw noLog(`previous terminated ${which} not found`);
    return idIn(last);
  }
  return idIn(currentId(found) || last || failWaiting(which, found));
}

function currentId({ state, containerID = '' }: ContainerStatus): string {
  if (state?.running !== undefined) return containerID;
  return state?.terminated?.containerID ?? '';
}

const waitingTexts: Readonly<Record<string, string>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

function failWaiting(which: string, { state, lastState }: ContainerStatus): never {
  if (state?.terminated !== undefined || lastState?.terminated !== undefined)
    throw noLog(`${which} is terminated`);
  const { reason } = state?.waiting ?? {};
  if (reason === undefined) throw noLog(`${which} is waiting to start - no logs yet`);
  throw noLog(`${which} is waiting to start: ${waitingTexts[reason] ?? reason}`);
}

/** Of `containerd://ID`. */
const idIn = (containerId: string): string => containerId.replace(/^[^:]*:\/\//, '');

const noLog = (message: string) => new RefusedError(400, message);
