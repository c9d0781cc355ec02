import { secretKind } from '../../api/index.ts';
import type { BootstrapSecrets } from '../authn/index.ts';
import { bootstrapNamespace } from '../authn/index.ts';
import type { Registry } from '../registry/index.ts';

/** Bootstrap tokens out of the registry: as they are after the last write that was answered. */
export function bootstrapSecrets(registry: () => Registry): BootstrapSecrets {
  return {
    find(name) {
      const resource = registry().of(secretKind);
      const stored = resource.storage.get(resource.prefix(bootstrapNamespace) + name);
      return stored && resource.encoding.read(stored);
    },
  };
}
