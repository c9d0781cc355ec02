export { readKubeconfig } from './read.ts';
export { type KubeconfigEntry, renderKubeconfig } from './render.ts';
export { clientOptionsOf, type Kubeconfig, type KubeconfigOptions } from './types.ts';
