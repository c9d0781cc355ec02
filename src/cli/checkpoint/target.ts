import { InvalidArgumentError } from 'commander';
import { ExitError, exitCodes } from '../../base/index.ts';

/** What is to be checkpointed: a container, or all containers of a pod. */
export interface Target {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string | undefined;
}

/** The parts of `[NAMESPACE/]POD[/CONTAINER]`. */
export function parseTarget(text: string): string[] {
  const parts = text.split('/');
  if (parts.length <= 3 && parts.every((part) => part !== '')) return parts;
  throw new InvalidArgumentError('It must be NAMESPACE/POD or NAMESPACE/POD/CONTAINER.');
}

/**
 * With `--namespace` the parts are POD and CONTAINER, without it the first one is the namespace. Three parts name it
 * themselves, and it must be the same. Throws an ExitError for a pod without a namespace.
 */
export function resolveTarget(parts: readonly string[], namespace: string | undefined): Target {
  const [first = '', second, third] = parts;
  if (third !== undefined) {
    if (namespace !== undefined && namespace !== first)
      throw new ExitError(exitCodes.usage, `${parts.join('/')} is not of the namespace ${namespace}`);
    return { namespace: first, pod: second ?? '', container: third };
  }
  if (namespace !== undefined) return { namespace, pod: first, container: second };
  if (second !== undefined) return { namespace: first, pod: second, container: undefined };
  const advice = 'name it with -n NAMESPACE, or say NAMESPACE/POD or NAMESPACE/POD/CONTAINER';
  throw new ExitError(exitCodes.usage, `the namespace of the pod ${first} is not known; ${advice}`);
}

/** The path below `/checkpoint`. */
export function pathOfTarget({ namespace, pod, container }: Target): string {
  const parts = container === undefined ? [namespace, pod] : [namespace, pod, container];
  return parts.map(encodeURIComponent).join('/');
}

/** How the words of the user were read, for what has not been found. */
export function describeTarget({ namespace, pod, container }: Target, hasNamespaceFlag: boolean): string {
  const parts = [`namespace ${JSON.stringify(namespace)}`, `pod ${JSON.stringify(pod)}`];
  if (container !== undefined) return [...parts, `container ${JSON.stringify(container)}`].join(', ');
  const all = [...parts, 'all its containers'].join(', ');
  return hasNamespaceFlag
    ? all
    : `${all}; for container ${pod} of pod ${namespace}: nodeward checkpoint ${namespace}/${pod} -n NAMESPACE`;
}
