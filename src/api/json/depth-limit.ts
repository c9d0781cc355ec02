/** The deepest that a body may nest. */
export const depthLimit = 256;
