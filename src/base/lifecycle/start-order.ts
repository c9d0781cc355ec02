import type { Service } from './service.ts';

/**
 * Sorts services so that each comes after all it depends on. Throws on a name that is used twice or unknown, and on a
 * circle of dependencies, naming it: mistakes in the program, found at its first start.
 */
export function computeStartOrder(services: readonly Service[]): Service[] {
  const byName = new Map<string, Service>();
  for (const service of services) {
    if (byName.has(service.name)) throw new Error(`two services are named ${service.name}`);
    byName.set(service.name, service);
  }
  const order: Service[] = [];
  const state = new Map<Service, 'visiting' | 'placed'>();
  const place = (service: Service, path: readonly string[]) => {
    if (state.get(service) === 'placed') return;
    const here = [...path, service.name];
    if (state.get(service) === 'visiting')
      throw new Error(`services depend in a circle: ${here.join(' → ')}`);
    state.set(service, 'visiting');
    for (const name of service.dependsOn) {
      const needed = byName.get(name);
      if (needed === undefined)
        throw new Error(`service ${service.name} depends on ${name}, which does not exist`);
      place(needed, here);
    }
    state.set(service, 'placed');
    order.push(service);
  };
  for (const service of services) place(service, []);
  return order;
}
