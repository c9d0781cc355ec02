import type { Clock, Logger, NotifyEnvironment } from '../../base/index.ts';
import type { FlagValues } from '../config/index.ts';
import type { RuntimeStatus } from '../runtime/index.ts';

/** Where the control plane is: in a child of the agent, somewhere else, or nowhere. */
export type ControlPlane =
  | { mode: 'embedded'; script: string; args: readonly string[] }
  | { mode: 'remote'; kubeconfig: string }
  /** The kubeconfig is the agent's own, written with the certificate that the bootstrap kubeconfig entitles it to. */
  | { mode: 'joining'; kubeconfig: string; bootstrapKubeconfig: string }
  | { mode: 'standalone' };

export interface AgentOptions {
  config?: string | undefined;
  configDir?: string | undefined;
  /** The command line's values for fields of the configuration. */
  flags: FlagValues;
  rootDir: string;
  certDir: string;
  lockFile: string;
  exitOnLockContention: boolean;
  /** Default the kernel's host name. */
  hostnameOverride?: string | undefined;
  /** Reported in place of the detected addresses; see listNodeAddresses(). Default the detected ones. */
  nodeIps?: readonly string[] | undefined;
  externalIps?: readonly string[] | undefined;
  /** Labels of a Node that the agent creates, beside its own. */
  nodeLabels: Readonly<Record<string, string>>;
  /** Programs that are asked for credentials of image registries: their description, and where they are. */
  credentialProviders?: { readonly file: string; readonly folder: string } | undefined;
  /** Calls `listener` when the configuration should be loaded again (SIGHUP), until disposed of. */
  onReloadAsked(listener: () => void): Disposable;
  groupSuffix: string;
  controlPlane: ControlPlane;
  /** Of the process. */
  env: NotifyEnvironment & Readonly<Record<string, string | undefined>>;
  pid: number;
  /** The command line of the process. */
  command: readonly string[];
  clock: Clock;
  log: Logger;
}

/** How the start of an agent is announced to people. */
export interface Announce {
  /** It is not ready, because it waits for this; called each time that it waits for something else. */
  waiting(what: string): void;
  ready(agent: RunningAgent): void;
}

/** An agent that has started, as its start is announced. */
export interface RunningAgent {
  nodeName: string;
  /** `https://address:port` */
  url: string;
  /** The control plane's address and an administrator's kubeconfig; undefined where it is remote or there is none. */
  api: { url: string; kubeconfig: string } | undefined;
  /** In standalone mode, the kubeconfig for the agent itself. */
  agentKubeconfig: string | undefined;
  runtime: RuntimeStatus;
}
