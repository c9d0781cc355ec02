export type { ObjectEncoding } from './encoding.ts';
export { timestamp } from './metadata.ts';
export { createRegistry, type Registry, type RegistryOptions } from './registry.ts';
export { type Preconditions, Resource } from './resource.ts';
export { permanentNamespaces } from './strategies/namespace.ts';
export type { Admission, Strategy, WriteContext } from './strategy.ts';
