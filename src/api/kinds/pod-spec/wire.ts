/** Of a scalar whose zero says something else than its absence. */
export const pointer = { pointer: true } as const;
