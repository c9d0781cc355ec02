import { containerHash } from '../../containers/index.ts';
import type { ContainerView } from '../view/types.ts';
import type { ContainerSpec } from './spec.ts';

/** As the reference writes it, so that either agent takes over what the other has started. */
const hashAnnotation = 'io.kubernetes.container.hash';

/** Whether the container was made from another description; one without the annotation is taken as it is. */
export function isChanged(spec: ContainerSpec, { annotations }: ContainerView): boolean {
  const hash = annotations[hashAnnotation];
  return hash !== undefined && hash !== containerHash(spec);
}
