/** Among which checkpoints a limit counts: those of one container, one pod, one namespace, or all of the node. */
export const retentionScopes = ['perContainer', 'perPod', 'perNamespace', 'node'] as const;
export type RetentionScope = (typeof retentionScopes)[number];

/** Limits of one scope; those that are undefined are none. */
export interface RetentionLimits {
  /** From 1 on. */
  readonly maxCount?: number;
  /** Of the archives together. */
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
  /** So many of the newest are kept whatever another limit says. */
  readonly minCount?: number;
}

/** What is kept of old checkpoints; a scope without limits keeps all. */
export type RetentionSettings = Readonly<Partial<Record<RetentionScope, RetentionLimits>>>;

/** Whether anything can ever be removed. */
export function hasLimits(settings: RetentionSettings): boolean {
  return retentionScopes.some((scope) => {
    const { maxCount, maxBytes, maxAgeMs } = settings[scope] ?? {};
    return maxCount !== undefined || maxBytes !== undefined || maxAgeMs !== undefined;
  });
}

export function hasAgeLimits(settings: RetentionSettings): boolean {
  return retentionScopes.some((scope) => settings[scope]?.maxAgeMs !== undefined);
}
