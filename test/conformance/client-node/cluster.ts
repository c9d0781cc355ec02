import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { waitFor } from '../../support/index.ts';
import type { ControlPlane } from '../control-plane/index.ts';
import { startControlPlane } from '../control-plane/index.ts';

/** A control plane as a program with this client meets it: by the administrator's kubeconfig. Disposal ends it. */
export interface Cluster extends AsyncDisposable {
  readonly config: KubeConfig;
  /** Makes a namespace that nobody else uses, with what the control plane puts into it, and answers its name. */
  namespace(): Promise<string>;
}

export type OpenCluster = () => Cluster;

export async function startCluster(): Promise<Cluster> {
  const controlPlane: ControlPlane = await startControlPlane();
  const config = new KubeConfig();
  config.loadFromFile(controlPlane.kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  return {
    config,
    namespace: async () => {
      const name = `client-${crypto.randomUUID().slice(0, 8)}`;
      await core.createNamespace({ body: { metadata: { name } } });
      const certificate = { namespace: name, name: 'kube-root-ca.crt' };
      await waitFor('what the control plane puts into a namespace', () =>
        core.readNamespacedConfigMap(certificate),
      );
      return name;
    },
    [Symbol.asyncDispose]: () => controlPlane[Symbol.asyncDispose](),
  };
}
