import { InvalidArgumentError, Option } from 'commander';
import type { ConfigSources } from '../../agent/index.ts';
import { checkLabelValue, checkQualifiedName } from '../../api/index.ts';
import {
  featureGatesOption,
  filePath,
  ipAddress,
  ipAddresses,
  port,
  trueOrFalse,
  unixSocket,
} from './flags.ts';

/** What decides how the agent is configured: the same for the agent and for the commands that only look. */
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
  new Option('--config <file>', 'configuration file (KubeletConfiguration, YAML)').argParser(filePath),
  new Option(
    '--config-dir <dir>',
    'folder of *.conf files that are merged over the configuration file',
  ).argParser(filePath),
];

export const controlPlaneChoiceOptions = () => [
  new Option('--kubeconfig <file>', 'use the control plane that this kubeconfig names').argParser(filePath),
  new Option(
    '--bootstrap-kubeconfig <file>',
    'join the control plane that this kubeconfig names, as the node that its token lets the agent become',
  ).argParser(filePath),
  new Option(
    '--embedded-control-plane <true|false>',
    'run a control plane (default: true without a kubeconfig); false without a kubeconfig: no API at all',
  ).argParser(trueOrFalse),
];

/** The flags that are fields of the configuration. */
export const configFieldOptions = () => [
  new Option(
    '--container-runtime-endpoint <unix:///path>',
    'socket of the container runtime (default: the first that exists of the usual ones)',
  ).argParser(unixSocket),
  new Option('--address <ip>', 'address that the agent listens on (default: 0.0.0.0)').argParser(ipAddress),
  new Option('--port <port>', 'port that the agent listens on (default: 10250)').argParser(port),
  seccompDefaultOption(),
  featureGatesOption(),
];

export const seccompDefaultOption = () =>
  new Option(
    '--seccomp-default [true|false]',
    'give containers of which nothing is said the seccomp profile of the runtime, not none',
  )
    .preset('true')
    .argParser(trueOrFalse);

export const nodeLabelsOption = () =>
  new Option(
    '--node-labels <KEY=VALUE,…>',
    'labels of the Node, if the agent makes it; may be given repeatedly',
  )
    .default({})
    .argParser(nodeLabels);

export const nodeAddressOptions = () => [
  new Option(
    '--node-ip <ADDRESS,…>',
    'addresses of the Node inside the cluster, one or one of each family (default: those of the default route; "::" for IPv6 first)',
  ).argParser(ipAddresses),
  new Option(
    '--node-external-ip <ADDRESS,…>',
    'addresses by which the Node is reached from outside',
  ).argParser(ipAddresses),
];

/** `a=b,c=`; given again, it adds to what was given before. */
function nodeLabels(text: string, before: Record<string, string> = {}): Record<string, string> {
  const labels = text.split(',').map((pair): [string, string] => {
    const [key = '', ...value] = pair.trim().split('=');
    const wrong = value.length === 1 ? undefined : 'it needs one "="';
    const complaint = wrong ?? checkQualifiedName(key) ?? checkLabelValue(value[0] ?? '');
    if (complaint === undefined) return [key, value[0] ?? ''];
    throw new InvalidArgumentError(`It must be KEY=VALUE,…; ${JSON.stringify(pair)}: ${complaint}.`);
  });
  return { ...before, ...Object.fromEntries(labels) };
}

export function configSources(flags: ConfigFlags): ConfigSources {
  return {
    config: flags.config,
    configDir: flags.configDir,
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
