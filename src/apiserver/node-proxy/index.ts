export { type NamedNode, readNodeName } from './node-name.ts';
export {
  createNodeProxy,
  type NodeProxy,
  type NodeProxyOptions,
  type NodeRead,
  type ProxiedRequest,
} from './node-proxy.ts';
export { readProxiedPath, splitProxiedPath } from './path.ts';
export { PodProxy, type PodProxyOptions } from './pod-proxy.ts';
export { type NamedPod, readPodName } from './pod-target.ts';
