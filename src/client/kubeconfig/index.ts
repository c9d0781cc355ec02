export { readKubeconfig } from './read.ts';
export { renderKubeconfig } from './render.ts';
export { clientOptionsOf, type Kubeconfig } from './types.ts';
