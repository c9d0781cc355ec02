/** Options of a scalar whose zero differs from its absence. */
export const pointer = { pointer: true } as const;
