import type { Pod } from '../../../../src/api/index.ts';
import { decodeObject, findMissingFields, podKind } from '../../../../src/api/index.ts';
import { jsonBody } from '../../../support/index.ts';

export type PodSpec = NonNullable<Pod['spec']>;
export type Container = PodSpec['containers'][number];

/** A pod as a client sends it, after what the server does with every new one. */
export function made(pod: object): Pod {
  const { object, complaints } = decodeObject(podKind, 'v1', jsonBody(JSON.stringify(pod)));
  if (complaints.length > 0) throw new Error(complaints.join());
  return podKind.default(podKind.prepare(object, undefined));
}

/** The least that is a pod. */
export const least = { containers: [{ name: 'main', image: 'registry.example.com/app:1.0' }] };

export function madeOf(spec: object): Pod {
  return made({ metadata: { name: 'a' }, spec: { ...least, ...spec } });
}

/** `field: message` of everything that is wrong with a new pod. */
export function wrongWith(spec: object): string[] {
  const pod = madeOf(spec);
  const missing = findMissingFields(podKind.root, pod);
  const causes = missing.length > 0 ? missing : podKind.validate(pod, undefined);
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

/** The same of its only container. */
export function wrongWithContainer(container: object): string[] {
  const [main] = least.containers;
  return wrongWith({ containers: [{ ...main, ...container }] });
}
