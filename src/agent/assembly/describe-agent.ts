import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { version } from '../../api/index.ts';
import type { AgentDescription, ControlPlanePlace } from '../config/control-socket/index.ts';
import { withoutSecrets } from '../config/control-socket/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { IdentityParts } from './assemble-identity.ts';
import type { AgentContext } from './context.ts';
import type { ControlPlane, RunningAgent } from './options.ts';

/** What is known only while the agent runs. */
interface State {
  url: string;
  api: { url: string; kubeconfig: string } | undefined;
  runtimeEndpoint: string | undefined;
}

/** What the agent tells the commands that ask it over its control socket. */
export function describeAgent({ options, live, nodeName }: AgentContext, state: State): AgentDescription {
  const { config, configDir, flags, controlPlane, rootDir } = options;
  const kubeconfig = kubeconfigOf(controlPlane, rootDir) ?? state.api?.kubeconfig;
  return {
    pid: options.pid,
    version: version.nodeward,
    command: withoutSecrets(options.command),
    nodeName,
    groupSuffix: options.groupSuffix,
    rootDir,
    certDir: options.certDir,
    lockFile: options.lockFile,
    sources: {
      ...(config === undefined ? {} : { config }),
      ...(configDir === undefined ? {} : { configDir }),
      flags,
      standalone: controlPlane.mode === 'standalone',
    },
    files: live.loaded.files,
    controlPlane: toPlace(controlPlane),
    urls: { agent: state.url, ...(state.api === undefined ? {} : { api: state.api.url }) },
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(state.runtimeEndpoint ? { runtimeEndpoint: state.runtimeEndpoint } : {}),
  };
}

function kubeconfigOf(place: ControlPlane, rootDir: string): string | undefined {
  if (place.mode === 'remote' || place.mode === 'joining') return place.kubeconfig;
  return place.mode === 'standalone' ? join(rootDir, 'agent.kubeconfig') : undefined;
}

function toPlace(place: ControlPlane): ControlPlanePlace {
  return place.mode === 'embedded' ? { mode: 'embedded' } : place;
}

/** What is known of the agent once it is ready, as its start reports it. */
export function toRunningAgent(
  { options, config, nodeName, addresses }: AgentContext,
  port: number,
  controlPlane: IdentityParts['controlPlane'],
  runtime: Runtime,
): RunningAgent {
  const standalone = options.controlPlane.mode === 'standalone';
  return {
    nodeName,
    url: agentUrl(config.address, addresses(), port),
    api: controlPlane?.connection.value,
    agentKubeconfig: standalone ? join(options.rootDir, 'agent.kubeconfig') : undefined,
    runtime: runtime.status(),
  };
}

/** Addresses that stand for all addresses of a machine. */
const wildcards: ReadonlySet<string> = new Set(['0.0.0.0', '::', '']);

/**
 * Returns `https://HOST:PORT` of the agent's server for callers on this machine: the address it listens on, or the node's
 * first where it listens on all.
 */
export function agentUrl(listening: string, nodeAddresses: readonly string[], port: number): string {
  const address = wildcards.has(listening) ? (nodeAddresses[0] ?? '127.0.0.1') : listening;
  return `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
