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

  /** By container. */
  states(pod: Pod): Map<string, ImageState> {
    const states = new Map<string, ImageState>();
    for (const [container, attempt] of this.#attempts) {
      const found = findContainer(pod, container);
      if (found === undefined) continue;
      const { image = '', imagePullPolicy } = found;
      const pullPolicy =
        imagePullPolicy === 'Always' || imagePullPolicy === 'Never' ? imagePullPolicy : 'IfNotPresent';
      states.set(container, this.#images.want({ pod, container, image, pullPolicy, attempt }));
    }
    return states;
  }

  /** That which the container is started from. */
  imageOf(pod: Pod, { container, imageId }: StartStep) {
    const state = this.states(pod).get(container);
    return state?.state === 'present' && state.id === imageId ? state : { id: imageId, user: {} };
  }
}
