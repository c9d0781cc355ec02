import type { ContainerdOptions, LabContainerd } from './containerd.ts';
import { startContainerd } from './containerd.ts';
import type { LabNamespace } from './namespace.ts';
import { startNamespace } from './namespace.ts';

/** A machine of its own, as far as networks and mounts go, with a containerd whose pods are on a bridge. */
export interface LabNode extends LabNamespace {
  readonly containerd: LabContainerd;
}

/** Needs root. Disposal ends containerd, every workload and what else runs in the node's cgroup, and leaves no trace. */
export async function startLabNode(options: Omit<ContainerdOptions, 'namespace'> = {}): Promise<LabNode> {
  await using setup = new AsyncDisposableStack();
  const namespace = setup.use(await startNamespace());
  const containerd = setup.use(await startContainerd({ ...options, namespace }));
  const resources = setup.move();
  return { ...namespace, containerd, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
