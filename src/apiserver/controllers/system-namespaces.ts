import type { Namespace } from '../../api/index.ts';
import { namespaceKind, StatusError } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import { permanentNamespaces } from '../registry/index.ts';
import { isReadable } from '../storage/index.ts';

/** Makes sure that the permanent namespaces exist. Rejects with an ExitError when one of them cannot be read. */
export async function ensureSystemNamespaces(registry: Registry): Promise<void> {
  for (const name of permanentNamespaces) {
    const namespace: Namespace = { metadata: { name } };
    try {
      await registry.of(namespaceKind).create('', namespace, { user: controlPlaneUser, dryRun: false });
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
      mustBeReadable(registry.of(namespaceKind), name);
    }
  }
}

/** Without these, the control plane could do next to nothing. */
function mustBeReadable(namespaces: Resource<Namespace>, name: string): void {
  const state = namespaces.storage.lookup(namespaces.prefix('') + name);
  if (state === undefined || isReadable(state)) return;
  const advice = 'have the program that wrote it store it again, unencrypted';
  const message = `cannot start: ${state.key} in the store cannot be read: ${state.why}; ${advice}`;
  throw new ExitError(exitCodes.configuration, message);
}
