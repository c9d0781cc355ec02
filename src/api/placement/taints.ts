import type { Pod, Taint } from '../kinds/index.ts';

export type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

/** Whether the pod tolerates the taint, for however long. */
export function tolerates({ spec }: Pod, taint: Taint): boolean {
  return (spec?.tolerations ?? []).some((toleration) => isFor(toleration, taint));
}

/** Whether a toleration is for a taint: without a key and with Exists for all, without an effect for all effects. */
export function isFor(
  { key = '', operator = '', value = '', effect = '' }: Toleration,
  taint: Taint,
): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (operator === 'Exists') return key === '' || key === taint.key;
  return (operator === 'Equal' || operator === '') && key === taint.key && value === (taint.value ?? '');
}
