import type { Clock, Logger, NotifyEnvironment } from '../../base/index.ts';
import type { FlagValues } from '../config/index.ts';
import type { RuntimeStatus } from '../runtime/index.ts';

/** Where the control plane is: in a child of the agent, somewhere else, or nowhere. */
export type ControlPlane =
  | { mode: 'embedded'; script: string; args: readonly string[] }
  | { mode: 'remote'; kubeconfig: string }
  /** The kubeconfig is the agent's own: it is made with what the bootstrap kubeconfig lets it ask for. */
  | { mode: 'joining'; kubeconfig: string; bootstrapKubeconfig: string }
  | { mode: 'standalone' };

export interface AgentOptions {
  config?: string | undefined;
  configDir?: string | undefined;
  /** What was given on the command line for fields of the configuration. */
  flags: FlagValues;
  rootDir: string;
  certDir: string;
  lockFile: string;
  exitOnLockContention: boolean;
  /** Default the kernel's host name. */
  hostnameOverride?: string | undefined;
  /** What is reported in place of the addresses that are found; see nodeAddresses(). Default what is found. */
  nodeIps?: readonly string[] | undefined;
  externalIps?: readonly string[] | undefined;
  /** Labels of a Node that the agent makes, beside its own. */
  nodeLabels: Readonly<Record<string, string>>;
  /** Calls `listener` when the configuration is to be loaded anew (SIGHUP), until disposed of. */
  onReloadAsked(listener: () => void): Disposable;
  groupSuffix: string;
  controlPlane: ControlPlane;
  /** Of the process, for the service manager. */
  env: NotifyEnvironment;
  pid: number;
  clock: Clock;
  log: Logger;
}

/** An agent that has started, for whoever wants to tell about it. */
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
