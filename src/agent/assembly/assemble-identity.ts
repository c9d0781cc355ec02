import type { Service } from '../../base/index.ts';
import { createLatest } from '../../base/index.ts';
import type { ClientOptions, Kubeconfig } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../client/index.ts';
import { ControlPlaneService } from '../identity/control-plane/index.ts';
import type { Identity } from '../identity/index.ts';
import {
  embeddedIdentity,
  joinedIdentity,
  kubeconfigFollower,
  remoteIdentity,
  standaloneIdentity,
} from '../identity/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** The node's identity, and the services that it needs. */
export interface IdentityParts {
  identity: Service & Identity;
  /** Present where the control plane is a child of the agent. */
  controlPlane: ControlPlaneService | undefined;
  services: readonly Service[];
}

/** Assembles the identity for each mode. `url` resolves with the agent's own address once it has a port. */
export async function assembleIdentity(
  context: AgentContext,
  url: () => Promise<string>,
): Promise<IdentityParts> {
  const { options, nodeName, addresses } = context;
  const { rootDir, certDir, controlPlane: where } = options;
  const common = { nodeName, certDir, addresses, ...part(context, 'identity') };
  if (where.mode === 'embedded') {
    const { script, args } = where;
    const controlPlane = new ControlPlaneService({
      script,
      args,
      rootDir,
      lockFile: options.lockFile,
      dependsOn: ['lock'],
      ...part(context, 'control-plane'),
    });
    const identity = embeddedIdentity({ ...common, controlPlane });
    return { identity, controlPlane, services: [controlPlane, identity] };
  }
  if (where.mode === 'joining') {
    const { kubeconfig, bootstrapKubeconfig } = where;
    const found = await readFirstKubeconfig(bootstrapKubeconfig, kubeconfig);
    const bootstrap = { ...clientOptionsOf(found), groupSuffix: options.groupSuffix };
    const identity = joinedIdentity({ ...common, bootstrap, kubeconfig, dependsOn: ['lock'] });
    return { identity, controlPlane: undefined, services: [identity] };
  }
  if (where.mode === 'remote') {
    const found = await readKubeconfig(where.kubeconfig);
    const { groupSuffix } = options;
    const credentials = createLatest<ClientOptions>();
    credentials.set(requireUsable({ ...clientOptionsOf(found), groupSuffix }));
    const identity = remoteIdentity({
      ...common,
      credentials,
      open: (client) => new ApiClient(client),
      dependsOn: ['lock'],
    });
    const follower = kubeconfigFollower({
      path: where.kubeconfig,
      files: found.files,
      groupSuffix,
      credentials,
      dependsOn: ['lock'],
      ...part(context, 'identity'),
    });
    return { identity, controlPlane: undefined, services: [identity, follower] };
  }
  const identity = standaloneIdentity({ ...common, rootDir, url, dependsOn: ['lock'] });
  return { identity, controlPlane: undefined, services: [identity] };
}

/** Throws an ExitError, at the start, for credentials with which no connection can be made. */
function requireUsable(client: ClientOptions): ClientOptions {
  void new ApiClient(client).close();
  return client;
}

/** Reads the bootstrap kubeconfig, or the agent's own: once the agent has one, the former may be gone. */
async function readFirstKubeconfig(bootstrap: string, own: string): Promise<Kubeconfig> {
  try {
    return await readKubeconfig(bootstrap);
  } catch (error) {
    return await readKubeconfig(own).catch(() => {
      throw error;
    });
  }
}
