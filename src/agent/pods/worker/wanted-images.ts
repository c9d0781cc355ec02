import type { Pod } from '../../../api/index.ts';
import type { ImageState } from '../../images/index.ts';
import type { Plan, StartStep } from '../plan/index.ts';
import { findContainer } from './pod-names.ts';
import type { WorkerParts } from './types.ts';

/** The images that the plans of one pod have asked for. */
export class WantedImages {
  readonly #images: WorkerParts['images'];
  /** The attempt of each container whose image was asked for. */
  readonly #attempts = new Map<string, number>();

  constructor(images: WorkerParts['images']) {
    this.#images = images;
  }

  /** Returns whether the plan asks for one that no plan before has asked for. */
  ask({ imagesWanted }: Plan): boolean {
    const isNew = imagesWanted.filter(({ container, attempt }) => this.#attempts.get(container) !== attempt);
    for (const { container, attempt } of isNew) this.#attempts.set(container, attempt);
    return isNew.length > 0;
  }

  /** By container: that of its own image, or of the first image it mounts as a volume that is not there yet. */
  states(pod: Pod): Map<string, ImageState> {
    const states = new Map<string, ImageState>();
    for (const [container, attempt] of this.#attempts) {
      const found = findContainer(pod, container);
      if (found === undefined) continue;
      const own = this.#want(pod, container, found, attempt);
      // all of them are asked for at once
      const mounted = [...this.#volumeStates(pod, container).values()];
      const missing = [own, ...mounted].find(({ state }) => state !== 'present');
      states.set(container, missing ?? own);
    }
    return states;
  }

  /** That which the container is started from. */
  imageOf(pod: Pod, { container, attempt, imageId }: StartStep) {
    const found = findContainer(pod, container);
    const state = found === undefined ? undefined : this.#want(pod, container, found, attempt);
    return state?.state === 'present' && state.id === imageId ? state : { id: imageId, user: {} };
  }

  /** The ids of the images that the container mounts as volumes, by the names of the volumes. */
  volumeImagesOf(pod: Pod, { container }: StartStep): ReadonlyMap<string, string> {
    const states = this.#volumeStates(pod, container);
    return new Map(
      [...states].flatMap(([name, each]) => (each.state === 'present' ? [[name, each.id]] : [])),
    );
  }

  #volumeStates(pod: Pod, container: string): Map<string, ImageState> {
    const attempt = this.#attempts.get(container) ?? 0;
    const mounts = new Set(findContainer(pod, container)?.volumeMounts?.map(({ name }) => name));
    const states = new Map<string, ImageState>();
    for (const { name, image } of pod.spec?.volumes ?? []) {
      if (image === undefined || !mounts.has(name)) continue;
      const { reference, pullPolicy: imagePullPolicy } = image;
      const wish = { image: reference ?? '', imagePullPolicy };
      states.set(name, this.#want(pod, `volume ${name} of ${container}`, wish, attempt));
    }
    return states;
  }

  #want(pod: Pod, container: string, { image = '', imagePullPolicy }: Asked, attempt: number): ImageState {
    const pullPolicy =
      imagePullPolicy === 'Always' || imagePullPolicy === 'Never' ? imagePullPolicy : 'IfNotPresent';
    return this.#images.want({ pod, container, image, pullPolicy, attempt });
  }
}

interface Asked {
  readonly image?: string | undefined;
  readonly imagePullPolicy?: string | undefined;
}
