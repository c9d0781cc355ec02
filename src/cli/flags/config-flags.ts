import { join, resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import type { ConfigSources } from '../../agent/index.ts';
import { checkLabelValue, checkQualifiedName } from '../../api/index.ts';
import { featureGatesOption } from './common-flags.ts';
import {
  parseBoolean,
  parseFilePath,
  parseIpAddress,
  parseIpAddresses,
  parsePort,
  parseUnixSocket,
} from './values.ts';

/** The flags that configure the agent: those of the agent itself and of the commands that inspect its configuration. */
export interface ConfigFlags {
  config?: string;
  configDir?: string;
  kubeconfig?: string;
  bootstrapKubeconfig?: string;
  embeddedControlPlane?: boolean;
  containerRuntimeEndpoint?: string;
  address?: string;
  port?: number;
  seccompDefault?: boolean;
  featureGates?: Record<string, boolean>;
}

export const configFileOptions = () => [
  new Option('--config <file>', 'configuration file (KubeletConfiguration, YAML)').argParser(parseFilePath),
  new Option(
    '--config-dir <dir>',
    'folder of *.conf files that are merged into the configuration file',
  ).argParser(parseFilePath),
];

export const controlPlaneChoiceOptions = () => [
  new Option('--kubeconfig <file>', 'use the control plane that this kubeconfig names').argParser(
    parseFilePath,
  ),
  new Option(
    '--bootstrap-kubeconfig <file>',
    'join the control plane that this kubeconfig names, as a node that its token is for',
  ).argParser(parseFilePath),
  new Option(
    '--embedded-control-plane <true|false>',
    'run a control plane (default: true without a kubeconfig); false without a kubeconfig: no API at all',
  ).argParser(parseBoolean),
];

/** The flags that override fields of the configuration. */
export const configFieldOptions = () => [
  new Option(
    '--container-runtime-endpoint <unix:///path>',
    'socket of the container runtime (default: the first usual one that exists)',
  ).argParser(parseUnixSocket),
  new Option('--address <ip>', 'address that the agent listens on (default: 0.0.0.0)').argParser(
    parseIpAddress,
  ),
  new Option('--port <port>', 'port that the agent listens on (default: 10250)').argParser(parsePort),
  seccompDefaultOption(),
  featureGatesOption(),
];

export const seccompDefaultOption = () =>
  new Option(
    '--seccomp-default [true|false]',
    'containers without a seccomp profile get the one of the runtime instead of none',
  )
    .preset('true')
    .argParser(parseBoolean);

export const nodeLabelsOption = () =>
  new Option('--node-labels <KEY=VALUE,…>', 'labels of the Node if the agent creates it; may be repeated')
    .default({})
    .argParser(parseNodeLabels);

export const nodeAddressOptions = () => [
  new Option(
    '--node-ip <ADDRESS,…>',
    'addresses of the Node inside the cluster, one or one of each family (default: those of the default route; "::" for IPv6 first)',
  ).argParser(parseIpAddresses),
  new Option('--node-external-ip <ADDRESS,…>', 'external addresses of the Node').argParser(parseIpAddresses),
];

export const imageCredentialOptions = () => [
  new Option(
    '--image-credential-provider-config <file>',
    'programs that are asked for credentials of image registries, as of the kubelet',
  ).argParser(parseFilePath),
  new Option('--image-credential-provider-bin-dir <dir>', 'where these programs are').argParser(
    parseFilePath,
  ),
];

/** `a=b,c=`, added to the labels of earlier occurrences. */
function parseNodeLabels(text: string, before: Record<string, string> = {}): Record<string, string> {
  const labels = text.split(',').map((pair): [string, string] => {
    const [key = '', ...value] = pair.trim().split('=');
    const problem =
      (value.length === 1 ? undefined : 'it needs one "="') ??
      checkQualifiedName(key) ??
      checkLabelValue(value[0] ?? '');
    if (problem === undefined) return [key, value[0] ?? ''];
    throw new InvalidArgumentError(`It must be KEY=VALUE,…; ${JSON.stringify(pair)}: ${problem}.`);
  });
  return { ...before, ...Object.fromEntries(labels) };
}

/** Where the agent keeps its own files, and under which name it runs. */
export interface AgentPlaceFlags {
  rootDir: string;
  certDir?: string;
  lockFile: string;
  hostnameOverride?: string;
}

export const agentPlaceOptions = () => [
  new Option('--cert-dir <dir>', 'folder for keys and certificates (default: ROOT-DIR/pki)').argParser(
    parseFilePath,
  ),
  new Option('--lock-file <file>', 'lock that keeps a second agent from running')
    .default('/var/run/nodeward.lock')
    .argParser(parseFilePath),
  new Option('--hostname-override <name>', 'name of the node (default: the host name)'),
];

export function resolveAgentFolders({ rootDir, certDir }: AgentPlaceFlags): {
  rootDir: string;
  certDir: string;
} {
  const root = resolve(rootDir);
  return { rootDir: root, certDir: certDir ?? join(root, 'pki') };
}

/** Where an agent that joins with a bootstrap kubeconfig keeps the kubeconfig that it makes. */
export function joinedKubeconfigPath(rootDir: string): string {
  return join(resolve(rootDir), 'node.kubeconfig');
}

export function configSources(flags: ConfigFlags & { groupSuffix?: string }): ConfigSources {
  return {
    config: flags.config,
    configDir: flags.configDir,
    groupSuffix: flags.groupSuffix,
    flags: {
      address: flags.address,
      port: flags.port,
      containerRuntimeEndpoint: flags.containerRuntimeEndpoint,
      seccompDefault: flags.seccompDefault,
      featureGates: flags.featureGates,
    },
    standalone:
      flags.kubeconfig === undefined &&
      flags.bootstrapKubeconfig === undefined &&
      flags.embeddedControlPlane === false,
  };
}
