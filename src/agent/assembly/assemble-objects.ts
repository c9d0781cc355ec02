import type { Service } from '../../base/index.ts';
import type { KnownServices, PodObjects } from '../objects/index.ts';
import { NodeObjects, NodeServices, objectsWithoutApi, servicesWithoutApi } from '../objects/index.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

export interface ObjectParts {
  readonly objects: PodObjects;
  readonly services: KnownServices;
  /** What follows them, and must be stopped after the pods. */
  readonly lifetimes: readonly Service[];
}

/** Assembles what pods are given by the API: the ConfigMaps and Secrets that they name, and the Services. */
export function assembleObjects(context: AgentContext, { onApi }: Pick<PodParts, 'onApi'>): ObjectParts {
  if (onApi === undefined) return { objects: objectsWithoutApi, services: servicesWithoutApi, lifetimes: [] };
  const common = { api: onApi.api, ...part(context, 'pods') };
  const objects = new NodeObjects(common);
  const services = new NodeServices(common);
  const lifetime = (name: string, run: Service['run']): Service => ({
    ...{ name, run, dependsOn: ['identity'], onFailure: 'restart' },
  });
  return {
    ...{ objects, services },
    lifetimes: [lifetime('pod-objects', objects.run), lifetime('services', services.run)],
  };
}
