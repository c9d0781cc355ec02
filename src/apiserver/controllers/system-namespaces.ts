import type { Namespace } from '../../api/index.ts';
import { namespaceKind, StatusError } from '../../api/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';
import { permanentNamespaces } from '../registry/index.ts';

/** Makes sure that the permanent namespaces exist. */
export async function ensureSystemNamespaces(registry: Registry): Promise<void> {
  for (const name of permanentNamespaces) {
    const namespace: Namespace = { metadata: { name } };
    try {
      await registry.of(namespaceKind).create('', namespace, { user: controlPlaneUser, dryRun: false });
    } catch (error) {
      if (!(error instanceof StatusError && error.reason === 'AlreadyExists')) throw error;
    }
  }
}
