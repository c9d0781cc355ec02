import type { Pod } from '../../api/index.ts';
import { formatDuration } from '../../base/index.ts';
import type { EventRecorder, Happening } from '../node/events/index.ts';
import { podSubject } from '../node/events/index.ts';

/** Whose events they are: a container of a pod. */
export interface EventTarget {
  readonly pod: Pod;
  readonly container: string;
}

/** The events of images, in the words of the reference. `image` is always what the pod names. */
export class ImageEvents {
  readonly #recorder: EventRecorder;

  constructor(recorder: EventRecorder) {
    this.#recorder = recorder;
  }

  pulling(target: EventTarget, image: string): void {
    this.#normal(target, 'Pulling', `Pulling image "${image}"`);
  }

  pulled(target: EventTarget, image: string, times: PullTimes): void {
    const { pullMs, totalMs, sizeBytes } = times;
    const message = `Successfully pulled image "${image}" in ${formatMs(pullMs)} (${formatMs(totalMs)} including waiting). Image size: ${sizeBytes} bytes.`;
    this.#normal(target, 'Pulled', message);
  }

  present(target: EventTarget, image: string): void {
    const message = `Container image "${image}" already present on machine and can be accessed by the pod`;
    this.#normal(target, 'Pulled', message);
  }

  /** It is pulled again after a while. */
  backOff(target: EventTarget, image: string): void {
    this.#normal(target, 'BackOff', `Back-off pulling image "${image}"`);
    this.stopped(target, 'ImagePullBackOff');
  }

  pullFailed(target: EventTarget, image: string, why: string, reason: string): void {
    this.#warn(target, 'Failed', `Failed to pull image "${image}": ${why}`);
    this.stopped(target, reason);
  }

  neverPulled(target: EventTarget, message: string): void {
    this.#warn(target, 'ErrImageNeverPull', message);
    this.stopped(target, 'ErrImageNeverPull');
  }

  inspectFailed(target: EventTarget, message: string, reason: string): void {
    this.#warn(target, 'InspectFailed', message);
    this.stopped(target, reason);
  }

  /** The container cannot start, for that reason. */
  stopped(target: EventTarget, reason: string): void {
    this.#warn(target, 'Failed', `Error: ${reason}`);
  }

  secretsMissing({ pod }: EventTarget, names: readonly string[]): void {
    const message = `Unable to retrieve some image pull secrets (${names.join(', ')}); attempting to pull the image may not succeed.`;
    const happening = { type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message } as const;
    this.#recorder.record(podSubject(pod), happening);
  }

  #normal(target: EventTarget, reason: string, message: string): void {
    this.#record(target, { type: 'Normal', reason, message });
  }

  #warn(target: EventTarget, reason: string, message: string): void {
    this.#record(target, { type: 'Warning', reason, message });
  }

  #record({ pod, container }: EventTarget, happening: Happening): void {
    const list = lists.find((name) => pod.spec?.[name]?.some(({ name: each }) => each === container));
    const fieldPath = list === undefined ? {} : { fieldPath: `spec.${list}{${container}}` };
    this.#recorder.record({ ...podSubject(pod), ...fieldPath }, happening);
  }
}

export interface PullTimes {
  readonly pullMs: number;
  /** With the time that it waited for others. */
  readonly totalMs: number;
  readonly sizeBytes: number;
}

const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** As Go writes it, down to milliseconds. */
function formatMs(ms: number): string {
  return formatDuration(BigInt(Math.trunc(ms)) * 1_000_000n);
}
