import type { Pod } from '../../api/index.ts';
import type { AnyContainer, DownwardFacts } from '../downward/index.ts';
import { containerResource, expandReferences, findContainer, podField } from '../downward/index.ts';
import type { EnvironmentValue } from './types.ts';
import { ContainerConfigError } from './types.ts';

type Variable = NonNullable<AnyContainer['env']>[number];
type Source = NonNullable<Variable['valueFrom']>;

/**
 * The environment that the pod describes for a container, in its order. A name that appears twice has its last value.
 * Throws a ContainerConfigError for a value that cannot be had.
 */
export function resolveEnvironment(pod: Pod, name: string, facts: DownwardFacts): EnvironmentValue[] {
  const container = findContainer(pod, name);
  const values = new Map<string, string>();
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    refuseUnlessOptional('ConfigMap', configMapRef);
    refuseUnlessOptional('Secret', secretRef);
  }
  for (const variable of container.env ?? []) {
    const value = resolveVariable(pod, container, variable, values, facts);
    if (value !== undefined) values.set(variable.name ?? '', value);
  }
  return [...values].map(([key, value]) => ({ name: key, value }));
}

/** Undefined: the source is optional and not there. Only a value that stands in the spec refers to others. */
function resolveVariable(
  pod: Pod,
  container: AnyContainer,
  { value = '', valueFrom }: Variable,
  earlier: ReadonlyMap<string, string>,
  facts: DownwardFacts,
): string | undefined {
  if (value !== '' || valueFrom === undefined) return expandReferences(value, earlier);
  try {
    return readSource(pod, container, valueFrom, facts);
  } catch (error) {
    if (error instanceof ContainerConfigError || !(error instanceof Error)) throw error;
    throw new ContainerConfigError(error.message);
  }
}

function readSource(pod: Pod, own: AnyContainer, source: Source, facts: DownwardFacts): string | undefined {
  const { fieldRef, resourceFieldRef } = source;
  if (fieldRef !== undefined) return podField(pod, fieldRef.fieldPath ?? '', facts);
  if (resourceFieldRef !== undefined) {
    const { containerName = '', resource = '', divisor } = resourceFieldRef;
    const container = containerName === '' ? own : findContainer(pod, containerName);
    return containerResource(pod, container, { resource, divisor }, facts);
  }
  refuseUnlessOptional('ConfigMap', source.configMapKeyRef);
  refuseUnlessOptional('Secret', source.secretKeyRef);
  refuseUnlessOptional('file', source.fileKeyRef);
  return undefined;
}

/** Config maps, secrets and files of variables are not read by this agent: what depends on one cannot start. */
function refuseUnlessOptional(
  sort: 'ConfigMap' | 'Secret' | 'file',
  reference: { readonly name?: string; readonly path?: string; readonly optional?: boolean } | undefined,
): void {
  if (reference === undefined || reference.optional === true) return;
  const name = JSON.stringify(reference.name ?? reference.path ?? '');
  throw new ContainerConfigError(
    `the environment needs the ${sort} ${name}, and this agent does not read ConfigMaps, Secrets and files into the environment yet: write the value into the pod, or make the reference optional`,
  );
}
