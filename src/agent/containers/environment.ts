import type { Pod, Service } from '../../api/index.ts';
import { describeError } from '../../base/index.ts';
import type { AnyContainer, DownwardFacts } from '../downward/index.ts';
import {
  containerResource,
  expandReferences,
  findContainer,
  namespaceOf,
  podField,
} from '../downward/index.ts';
import type { Known, PodObjects } from '../objects/index.ts';
import { GivenObjects } from './given-objects.ts';
import { serviceVariables } from './service-variables.ts';
import type { EnvironmentValue } from './types.ts';
import { ContainerConfigError } from './types.ts';
import { readVariable } from './variable-file.ts';

type Variable = NonNullable<AnyContainer['env']>[number];
type Source = NonNullable<Variable['valueFrom']>;
type FileKey = NonNullable<Source['fileKeyRef']>;

/** Where the environment of a container comes from, beside its pod. */
export interface EnvironmentSources {
  readonly facts: DownwardFacts;
  readonly objects: Pick<PodObjects, 'configMap' | 'secret'>;
  readonly services: Known<readonly Service[]>;
  /** Static pods need not know the Services: the API may run in one of them. */
  readonly isStatic: boolean;
  /** Reads a file of a volume of the pod; rejects with an Error for people. */
  readFile(volume: string, path: string): Promise<string>;
}

/**
 * The environment that the pod describes for a container, in its order: all keys of objects, its own variables, and at the end
 * those of Services that it does not set itself. A name that appears twice has its last value. Rejects with a
 * ContainerConfigError for a value that cannot be had.
 */
export async function resolveEnvironment(
  pod: Pod,
  name: string,
  sources: EnvironmentSources,
): Promise<EnvironmentValue[]> {
  const environment = new Environment(pod, findContainer(pod, name), sources);
  return await environment.resolve();
}

class Environment {
  readonly #pod: Pod;
  readonly #container: AnyContainer;
  readonly #sources: EnvironmentSources;
  readonly #objects: GivenObjects;
  readonly #values = new Map<string, string>();

  constructor(pod: Pod, container: AnyContainer, sources: EnvironmentSources) {
    this.#pod = pod;
    this.#container = container;
    this.#sources = sources;
    this.#objects = new GivenObjects(sources.objects, pod);
  }

  async resolve(): Promise<EnvironmentValue[]> {
    const ofServices = this.#serviceVariables();
    const { env = [], envFrom = [] } = this.#container;
    for (const { prefix = '', configMapRef, secretRef } of envFrom) {
      if (configMapRef !== undefined) this.#setAll(prefix, this.#objects.values('ConfigMap', configMapRef));
      else if (secretRef !== undefined) this.#setAll(prefix, this.#objects.values('Secret', secretRef));
    }
    for (const variable of env) {
      const value = await this.#resolve(variable, ofServices);
      if (value !== undefined) this.#values.set(variable.name ?? '', value);
    }
    const all = new Map([...this.#values, ...[...ofServices].filter(([name]) => !this.#values.has(name))]);
    return [...all].map(([name, value]) => ({ name, value: withoutNul(name, value) }));
  }

  #serviceVariables(): ReadonlyMap<string, string> {
    const { services, isStatic } = this.#sources;
    if (services.state === 'present') {
      const { enableServiceLinks = true } = this.#pod.spec ?? {};
      return serviceVariables(services.object, namespaceOf(this.#pod), enableServiceLinks);
    }
    if (isStatic) return new Map();
    const why = services.state === 'absent' ? '' : `: ${services.message}`;
    throw new ContainerConfigError(
      `services have not yet been read at least once, cannot construct envvars${why}`,
    );
  }

  #setAll(prefix: string, values: readonly [key: string, value: string][]): void {
    for (const [key, value] of values) this.#values.set(prefix + key, value);
  }

  /** Undefined: the source is optional and not there. Only a value that stands in the spec refers to others. */
  async #resolve(
    { value = '', valueFrom }: Variable,
    ofServices: ReadonlyMap<string, string>,
  ): Promise<string | undefined> {
    if (value !== '' || valueFrom === undefined)
      return expandReferences(value, { get: (name) => this.#values.get(name) ?? ofServices.get(name) });
    try {
      return await this.#read(valueFrom);
    } catch (error) {
      throw error instanceof ContainerConfigError ? error : new ContainerConfigError(describeError(error));
    }
  }

  async #read(source: Source): Promise<string | undefined> {
    const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
    const { facts } = this.#sources;
    if (fieldRef !== undefined) return podField(this.#pod, fieldRef.fieldPath ?? '', facts);
    if (resourceFieldRef !== undefined) {
      const { containerName = '', resource = '', divisor } = resourceFieldRef;
      const container = containerName === '' ? this.#container : findContainer(this.#pod, containerName);
      return containerResource(this.#pod, container, { resource, divisor }, facts);
    }
    if (configMapKeyRef !== undefined) return this.#objects.value('ConfigMap', configMapKeyRef);
    if (secretKeyRef !== undefined) return this.#objects.value('Secret', secretKeyRef);
    return fileKeyRef === undefined ? '' : await this.#readFileKey(fileKeyRef);
  }

  /** As in the reference, an empty value is none, and a file that cannot be read is never optional. */
  async #readFileKey({
    volumeName = '',
    path = '',
    key = '',
    optional,
  }: FileKey): Promise<string | undefined> {
    const isKnown = this.#pod.spec?.volumes?.some(({ name }) => name === volumeName) === true;
    if (!isKnown)
      throw new Error(`cannot find the volume ${JSON.stringify(volumeName)} referenced by FileKeyRef`);
    const value = await this.#readVariable(volumeName, path, key);
    if (value !== '') return value;
    if (optional === true) return undefined;
    throw new Error(
      `environment variable key ${JSON.stringify(key)} not found in file ${JSON.stringify(path)}`,
    );
  }

  async #readVariable(volume: string, path: string, key: string): Promise<string> {
    try {
      return readVariable(await this.#sources.readFile(volume, path), key);
    } catch (error) {
      const where = `${JSON.stringify(path)} of the volume ${JSON.stringify(volume)}`;
      throw new Error(`couldn't parse env file: ${where}: ${describeError(error)}`, { cause: error });
    }
  }
}

/** A variable ends at a NUL; the runtime refuses one, and may show the value. */
function withoutNul(name: string, value: string): string {
  if (!value.includes('\0')) return value;
  throw new ContainerConfigError(`the value of the variable ${JSON.stringify(name)} has a NUL character`);
}
