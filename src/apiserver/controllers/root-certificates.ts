import { isDeepStrictEqual } from 'node:util';
import type { ConfigMap } from '../../api/index.ts';
import { configMapKind } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { controlPlaneUser } from '../authn/index.ts';
import type { State } from '../storage/index.ts';
import { isReadable } from '../storage/index.ts';
import type { ControllerOptions } from './controller.ts';
import { inEveryNamespace } from './in-every-namespace.ts';

export interface RootCertificatesOptions extends ControllerOptions {
  /** PEM of the authority that pods verify the certificate of this API with. */
  ca: string;
}

const context = { user: controlPlaneUser, dryRun: false };
const name = 'kube-root-ca.crt';
const annotations = {
  'kubernetes.io/description':
    'The authority of the API of this cluster, for programs in pods: they verify the certificate of the API with it.',
};

/** Keeps a ConfigMap `kube-root-ca.crt` in every namespace, which every pod gets beside its token; as in the reference. */
export function rootCertificates(options: RootCertificatesOptions): Service {
  const resource = options.registry.of(configMapKind);
  const data = { 'ca.crt': options.ca };

  async function keep(namespace: string, found: State | undefined): Promise<void> {
    if (found === undefined) {
      await resource.create(namespace, { metadata: { name, namespace, annotations }, data }, context);
      return;
    }
    if (!isReadable(found)) return;
    const stored = resource.encoding.read(found);
    if (isDeepStrictEqual({ ...stored.data }, data) && stored.binaryData === undefined) return;
    if (stored.immutable === true) {
      const { uid = '' } = stored.metadata ?? {};
      await resource.delete(namespace, name, { uid }, context); // and made again when it is gone
      return;
    }
    await resource.change({ namespace, name }, { make: mend, operation: 'Update' }, '', context);
  }

  function mend({ binaryData: _others, ...stored }: ConfigMap): ConfigMap {
    const metadata = { ...stored.metadata, annotations: { ...stored.metadata?.annotations, ...annotations } };
    return { ...stored, metadata, data };
  }

  return inEveryNamespace('root-certificates', options, {
    ...{ resource, name, keep },
    followsChanges: true,
  });
}
