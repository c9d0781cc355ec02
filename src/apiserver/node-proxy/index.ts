export { type NamedNode, readNodeName } from './node-name.ts';
export { createNodeProxy, type NodeProxy, type NodeProxyOptions, type ProxiedRequest } from './node-proxy.ts';
export { readProxiedPath } from './path.ts';
