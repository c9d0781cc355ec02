import type { Pod } from '../../../api/index.ts';
import type { ContainerType } from './types.ts';

/** What the plan reads of a container of any list. */
export interface ContainerSpec {
  readonly name: string;
  readonly image?: string;
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly RestartRule[];
  readonly startupProbe?: object;
  readonly resources?: object;
}

export interface RestartRule {
  /** `Restart` or `RestartAllContainers`. */
  readonly action: string;
  readonly exitCodes?: { readonly operator: string; readonly values?: readonly number[] };
}

export interface TypedSpec {
  readonly type: ContainerType;
  readonly spec: ContainerSpec;
}

/** All containers of the pod, in the order in which they start. */
export function listContainers({ spec }: Pod): TypedSpec[] {
  const ephemeral = (spec?.ephemeralContainers ?? []).map((each) => ({
    type: 'ephemeral' as const,
    spec: each,
  }));
  const init = (spec?.initContainers ?? []).map((each) => ({ type: initType(each), spec: each }));
  const regular = (spec?.containers ?? []).map((each) => ({ type: 'regular' as const, spec: each }));
  return [...ephemeral, ...init, ...regular];
}

function initType({ restartPolicy }: ContainerSpec): ContainerType {
  return restartPolicy === 'Always' ? 'sidecar' : 'init';
}

const defaultGraceSeconds = 30;

export function graceSecondsOf({ spec }: Pod): number {
  return spec?.terminationGracePeriodSeconds ?? defaultGraceSeconds;
}

export function usesHostNetwork({ spec }: Pod): boolean {
  return spec?.hostNetwork === true;
}

export function restartPolicyOf({ spec }: Pod): string {
  return spec?.restartPolicy ?? 'Always';
}
