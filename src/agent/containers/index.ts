/** What containers are made of: the messages for the runtime, as functions of the pod and the node. */

export { containerConfig, containerLogPath } from './container.ts';
export { type ConfigWarning, type PodDns, resolveDns } from './dns.ts';
export { type EnvironmentSources, resolveEnvironment } from './environment.ts';
export { containerHash, fnv1a } from './hash.ts';
export { hostnameOf, type PodHostname } from './hostname.ts';
export { type HostsSettings, hostsFile } from './hosts-file.ts';
export { localDns, parseResolvConf } from './resolv-conf.ts';
export { type MadeSandboxConfig, sandboxConfig } from './sandbox.ts';
export { stopSignalName } from './stop-signal.ts';
export { readThermalPaths } from './thermal-paths.ts';
export {
  ContainerConfigError,
  type ContainerDevices,
  type ContainerInput,
  type DnsSettings,
  type EnvironmentValue,
  type NodeSettings,
  type SandboxInput,
} from './types.ts';
