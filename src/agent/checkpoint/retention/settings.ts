/** The checkpoints that a limit applies to together: of one container, one pod, one namespace, or the whole node. */
export const retentionScopes = ['perContainer', 'perPod', 'perNamespace', 'node'] as const;
export type RetentionScope = (typeof retentionScopes)[number];

/** The limits of one scope; undefined: no limit. */
export interface RetentionLimits {
  /** At least 1. */
  readonly maxCount?: number;
  /** The sum over all archives. */
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
  /** This many of the newest are kept in spite of any other limit. */
  readonly minCount?: number;
}

/** Which old checkpoints are kept; a scope without limits keeps all. */
export type RetentionSettings = Readonly<Partial<Record<RetentionScope, RetentionLimits>>>;

export function hasAgeLimits(settings: RetentionSettings): boolean {
  return retentionScopes.some((scope) => settings[scope]?.maxAgeMs !== undefined);
}
