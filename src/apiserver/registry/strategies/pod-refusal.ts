import type { Pod } from '../../../api/index.ts';
import { podKind, StatusError } from '../../../api/index.ts';

/** The error with which admission refuses a pod. */
export function podRefusal({ metadata }: Pod, why: string): StatusError {
  const name = metadata?.name ?? '';
  const { resource } = podKind;
  return new StatusError('Forbidden', `${resource} "${name}" is forbidden: ${why}`, {
    details: { name, kind: resource },
  });
}
