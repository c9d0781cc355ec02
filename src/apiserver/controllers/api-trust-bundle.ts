import { createHash } from 'node:crypto';
import { apiServingSigner, bundlePrefixOf, clusterTrustBundleKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import { followWritten } from '../registry/index.ts';
import type { ControllerOptions } from './controller.ts';
import { controller } from './controller.ts';
import { findReadable, isUnreadable } from './presence.ts';
import { ignoreRace } from './races.ts';

export interface ApiTrustBundleOptions extends ControllerOptions {
  /** PEM of the authority of this API. */
  readonly ca: string;
}

const context = { user: controlPlaneUser, dryRun: false };
const prefix = bundlePrefixOf(apiServingSigner);

/**
 * Keeps one ClusterTrustBundle with the authority of the API, which pods may mount in place of `kube-root-ca.crt`, and removes all
 * others of that signer. As in the reference its name says what is in it, so a new authority has a new bundle.
 */
export function apiTrustBundle(options: ApiTrustBundleOptions): Service {
  const { registry, storage, ca } = options;
  const bundles = registry.of(clusterTrustBundleKind);
  const name = prefix + createHash('sha256').update(ca).digest('hex').slice(0, 24);
  const key = bundles.prefix('') + name;
  const wanted = { signerName: apiServingSigner, trustBundle: ca };

  async function keep(): Promise<void> {
    const stored = findReadable(storage, key);
    if (stored === undefined) {
      if (!isUnreadable(storage, key))
        await bundles.create('', { metadata: { name }, spec: wanted }, context);
      return;
    }
    if (bundles.encoding.read(stored).spec.trustBundle === ca) return;
    const make = (now: ReturnType<typeof bundles.encoding.read>) => ({ ...now, spec: wanted });
    await bundles.change({ namespace: '', name }, { make, operation: 'Update' }, '', context);
  }

  async function work(changed: string): Promise<void> {
    if (changed === key) return await keep().catch(ignoreRace);
    const stored = findReadable(storage, changed);
    if (stored === undefined) return;
    const { metadata: { uid = '' } = {}, spec } = bundles.encoding.read(stored);
    if (spec.signerName !== apiServingSigner) return;
    await bundles.delete('', bundles.placeOf(changed).name, { uid }, context).catch(ignoreRace);
  }

  return controller('api-trust-bundle', options, (enqueue) => {
    const onKey = (changed: string) => {
      if (bundles.placeOf(changed).name.startsWith(prefix)) enqueue(changed);
    };
    return {
      follows: [{ resource: bundles, ...followWritten(onKey), gone: (previous) => onKey(previous.key) }],
      prepare: async () => enqueue(key),
      work,
    };
  });
}
