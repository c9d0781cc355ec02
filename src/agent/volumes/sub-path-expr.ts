import { expandReferences } from '../downward/index.ts';

/** A variable of the environment of a container. */
export interface Variable {
  readonly name: string;
  readonly value: string;
}

/**
 * Replaces `$(NAME)` by variables of the container, as in its command. Throws an Error, in the words of the reference, that names
 * the variables that the container does not have, or that are empty.
 */
export function expandSubPath(expression: string, environment: readonly Variable[]): string {
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const missing = new Set<string>();
  const get = (name: string) => {
    const value = values.get(name) ?? '';
    if (value === '') missing.add(name);
    return value;
  };
  const expanded = expandReferences(expression, { get });
  if (missing.size > 0) throw new Error(`missing value for ${[...missing].sort().join(', ')}`);
  return expanded;
}

/** Returns what is wrong with a path in a volume. */
export function findSubPathFault(subPath: string): string | undefined {
  if (subPath.startsWith('/')) return `error SubPath \`${subPath}\` must not be an absolute path`;
  return subPath.split('/').includes('..')
    ? `unable to provision SubPath \`${subPath}\`: must not contain '..'`
    : undefined;
}
