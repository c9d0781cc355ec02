import type { Container, PodSpec } from './types.ts';

interface Warned {
  spec?: PodSpec;
}

/** How many warnings are reported for one pod. */
const warningsLimit = 20;

/** Warnings about values that are accepted and surely not intended. */
export function podWarnings({ spec }: Warned): string[] {
  if (spec === undefined) return [];
  const containers = [
    ...named('containers', spec.containers),
    ...named('initContainers', spec.initContainers ?? []),
  ];
  return [
    ...graceWarnings(spec),
    ...containers.flatMap(([path, container]) => containerWarnings(container, path)),
  ].slice(0, warningsLimit);
}

function named(list: string, containers: readonly Container[]): [string, Container][] {
  return containers.map((container, index) => [`spec.${list}[${index}]`, container]);
}

function graceWarnings({ terminationGracePeriodSeconds = 0 }: PodSpec): string[] {
  const wrong = 'must be >= 0; negative values are invalid and will be treated as 1';
  return terminationGracePeriodSeconds < 0 ? [`spec.terminationGracePeriodSeconds: ${wrong}.`] : [];
}

function containerWarnings({ env, ports }: Container, path: string): string[] {
  const names = new Set<string>();
  const places = new Map<string, number>();
  const hidden = (env ?? []).flatMap(({ name }, index) => {
    const again = names.has(name);
    names.add(name);
    const why = 'which may be dropped when using apply';
    return again ? [`${path}.env[${index}]: hides previous definition of "${name}", ${why}`] : [];
  });
  const twice = (ports ?? []).flatMap(({ containerPort, protocol = 'TCP', hostPort = 0 }, index) => {
    const place = JSON.stringify([containerPort, protocol, hostPort]);
    const first = places.get(place);
    if (first === undefined) places.set(place, index);
    if (first === undefined) return [];
    return [`${path}.ports[${index}]: duplicate port definition with ${path}.ports[${first}]`];
  });
  return [...hidden, ...twice];
}
