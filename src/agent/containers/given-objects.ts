import type { ConfigMap, Pod, Secret } from '../../api/index.ts';
import { namespaceOf } from '../downward/index.ts';
import type { Known, PodObjects } from '../objects/index.ts';
import { ContainerConfigError } from './types.ts';

type Kind = 'ConfigMap' | 'Secret';

/** An object that a container takes its environment from. */
interface Reference {
  readonly name?: string;
  readonly optional?: boolean;
}

/** A key of one. */
interface KeyReference extends Reference {
  readonly key?: string;
}

/**
 * Reads the ConfigMaps and Secrets that the environment of a container names. Throws a ContainerConfigError for what cannot be had;
 * messages are the reference's, and hold no values.
 */
export class GivenObjects {
  readonly #objects: Pick<PodObjects, 'configMap' | 'secret'>;
  readonly #namespace: string;

  constructor(objects: Pick<PodObjects, 'configMap' | 'secret'>, pod: Pod) {
    this.#objects = objects;
    this.#namespace = namespaceOf(pod);
  }

  /** All keys and values, by key; none where the object is optional and not there. */
  values(kind: Kind, reference: Reference): [key: string, value: string][] {
    const { data = {} } = this.#read(kind, reference) ?? {};
    const sorted = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([key, value]) => [key, this.#toText(kind, { ...reference, key }, value)]);
  }

  /** Undefined where it is optional and not there. */
  value(kind: Kind, reference: KeyReference): string | undefined {
    const object = this.#read(kind, reference);
    if (object === undefined) return undefined;
    const { data = {} } = object;
    const { name, key = '', optional } = reference;
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    if (value !== undefined) return this.#toText(kind, reference, value);
    if (optional === true) return undefined;
    throw new ContainerConfigError(`couldn't find key ${key} in ${kind} ${this.#namespace}/${name}`);
  }

  #read(kind: Kind, { name = '', optional }: Reference): ConfigMap | Secret | undefined {
    const known = this.#find(kind, name);
    if (known.state === 'present') return known.object;
    if (known.state !== 'absent') throw new ContainerConfigError(known.message);
    if (optional === true) return undefined;
    throw new ContainerConfigError(`${kind.toLowerCase()} ${JSON.stringify(name)} not found`);
  }

  #find(kind: Kind, name: string): Known<ConfigMap | Secret> {
    if (name === '') return { state: 'absent' };
    if (kind === 'ConfigMap') return this.#objects.configMap(this.#namespace, name);
    return this.#objects.secret(this.#namespace, name);
  }

  /** The values of a Secret are bytes; the runtime takes text only. */
  #toText(kind: Kind, { name, key }: KeyReference, value: string): string {
    if (kind === 'ConfigMap') return value;
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'base64'));
    } catch {
      throw new ContainerConfigError(
        `the value of key ${key} in Secret ${this.#namespace}/${name} is no text in UTF-8, and so cannot be a variable`,
      );
    }
  }
}
