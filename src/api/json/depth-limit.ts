/** How deep a body may nest. */
export const depthLimit = 256;
