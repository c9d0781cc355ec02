import type { PersistentVolume } from '../../../api/index.ts';
import { persistentVolumeKind } from '../../../api/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { Stored } from '../../storage/index.ts';

/** Which claim, by namespace and name. */
export interface ClaimName {
  readonly namespace: string;
  readonly name: string;
}

/** The claim that a volume is bound to, or kept for. */
export function claimOfVolume({ spec }: PersistentVolume): ClaimName | undefined {
  const { namespace = '', name = '' } = spec?.claimRef ?? {};
  return namespace === '' || name === '' ? undefined : { namespace, name };
}

/** The Secrets that a node needs for a volume, as `NAMESPACE/NAME`; without a namespace they are in the claim's. */
function nodeSecretsOf({ spec = {} }: PersistentVolume): string[] {
  const { csi, azureFile, cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos } = spec;
  const references = [
    ...[csi?.nodeStageSecretRef, csi?.nodePublishSecretRef, csi?.nodeExpandSecretRef],
    ...[cephfs, cinder, flexVolume, rbd, scaleIO, iscsi, storageos].map((source) => source?.secretRef),
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace ?? '' },
  ];
  return references.flatMap((reference) => {
    const namespace = reference?.namespace || (spec.claimRef?.namespace ?? '');
    return reference?.name && namespace ? [`${namespace}/${reference.name}`] : [];
  });
}

/** Which claims stand for a Secret: those of the volumes that need it. As of the last applied write. */
export class VolumeSecrets {
  /** By Secret, then by the key of the volume. */
  readonly #claims = new Map<string, Map<string, ClaimName>>();
  readonly #secrets = new Map<string, readonly string[]>();

  constructor(registry: Registry) {
    const volumes = registry.of(persistentVolumeKind);
    const set = (stored: Stored) => this.#set(stored.key, volumes.encoding.read(stored));
    volumes.follow({ present: set, added: set, changed: set, gone: ({ key }) => this.#forget(key) });
  }

  claimsOf(namespace: string, name: string): readonly ClaimName[] {
    return [...(this.#claims.get(`${namespace}/${name}`)?.values() ?? [])];
  }

  #set(key: string, volume: PersistentVolume): void {
    this.#forget(key);
    const claim = claimOfVolume(volume);
    const secrets = claim === undefined ? [] : nodeSecretsOf(volume);
    if (claim === undefined || secrets.length === 0) return;
    this.#secrets.set(key, secrets);
    for (const secret of secrets)
      this.#claims.set(secret, (this.#claims.get(secret) ?? new Map()).set(key, claim));
  }

  #forget(key: string): void {
    for (const secret of this.#secrets.get(key) ?? []) {
      const claims = this.#claims.get(secret);
      claims?.delete(key);
      if (claims?.size === 0) this.#claims.delete(secret);
    }
    this.#secrets.delete(key);
  }
}
