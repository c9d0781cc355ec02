/** A variable of the environment of a container. */
export interface Variable {
  readonly name: string;
  readonly value: string;
}

/**
 * Replaces `$(NAME)` by variables of the container, and `$$` by a dollar sign. Throws an Error that names the variables that the
 * container does not have.
 */
export function expandSubPath(expression: string, environment: readonly Variable[]): string {
  const values = new Map(environment.map(({ name, value }) => [name, value]));
  const missing = new Set<string>();
  const expanded = expression.replaceAll(/\$(?:\$|\(([^)]*)\))/g, (written, name: string | undefined) => {
    if (name === undefined) return '$';
    const value = values.get(name);
    if (value === undefined) missing.add(name);
    return value ?? written;
  });
  if (missing.size > 0)
    throw new Error(
      `missing value for ${[...missing]
        .sort()
        .map((name) => JSON.stringify(name))
        .join(', ')}`,
    );
  return expanded;
}

/** Returns what is wrong with a path in a volume. */
export function findSubPathFault(subPath: string): string | undefined {
  if (subPath.startsWith('/')) return `error SubPath \`${subPath}\` must not be an absolute path`;
  return subPath.split('/').includes('..')
    ? `unable to provision SubPath \`${subPath}\`: must not contain '..'`
    : undefined;
}
