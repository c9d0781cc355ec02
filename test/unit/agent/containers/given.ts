import type { EnvironmentSources } from '../../../../src/agent/containers/index.ts';
import { resolveEnvironment } from '../../../../src/agent/containers/index.ts';
import type { Known } from '../../../../src/agent/objects/index.ts';
import type { ConfigMap, Pod, Secret } from '../../../../src/api/index.ts';
import { node } from './sample.ts';

const base64 = (text: string | Uint8Array) => Buffer.from(text).toString('base64');

/** What is not named is absent. */
export interface GivenObjects {
  readonly configMaps?: Readonly<Record<string, Record<string, string>>>;
  /** Values as they are before they are encoded. */
  readonly secrets?: Readonly<Record<string, Record<string, string | Uint8Array>>>;
  /** Of ConfigMaps and Secrets that are neither there nor absent. */
  readonly others?: Readonly<Record<string, Known<never>>>;
}

/** Everything is of the namespace `shop`. */
export function objectsOf({
  configMaps = {},
  secrets = {},
  others = {},
}: GivenObjects): EnvironmentSources['objects'] {
  return {
    configMap(namespace, name): Known<ConfigMap> {
      const found = namespace === 'shop' ? configMaps[name] : undefined;
      if (found === undefined) return others[name] ?? { state: 'absent' };
      return { state: 'present', object: { data: found } };
    },
    secret(namespace, name): Known<Secret> {
      const found = namespace === 'shop' ? secrets[name] : undefined;
      if (found === undefined) return others[name] ?? { state: 'absent' };
      const data = Object.fromEntries(Object.entries(found).map(([key, value]) => [key, base64(value)]));
      return { state: 'present', object: { data } };
    },
  };
}

/** The variables of the container `c`, as `NAME=value`. */
export async function environmentOf(pod: Pod, sources: Partial<EnvironmentSources> = {}): Promise<string[]> {
  const resolved = await resolveEnvironment(pod, 'c', {
    facts: { node, podIps: ['10.1.0.4', 'fd00::4'] },
    objects: objectsOf({}),
    services: { state: 'present', object: [] },
    isStatic: false,
    readFile: async () => {
      throw new Error('there is no such file');
    },
    ...sources,
  });
  return resolved.map(({ name, value }) => `${name}=${value}`);
}
