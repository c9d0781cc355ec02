export { freeSubnet } from './cni.ts';
export { type ContainerdOptions, type LabContainerd, startContainerd } from './containerd.ts';
export { type ContainerdVersion, containerdConfig, image } from './containerd-config.ts';
export { type CriClient, connectCri } from './cri.ts';
export { type EtcdMember, type EtcdOptions, type LabEtcd, startEtcd } from './etcd.ts';
export type { EtcdCertificates } from './etcd-certificates.ts';
export { fetched, repository } from './folder.ts';
export { bootKernel, type LabKernel } from './kernel.ts';
export { type Kubectl, type KubectlOptions, kubectl } from './kubectl.ts';
export { type MovedClock, startMovedClock } from './moved-clock.ts';
export { insideEnvironment, type LabNamespace, startNamespace } from './namespace.ts';
export { type LabNode, startLabNode } from './node.ts';
export type {
  ContainerOptions,
  ExecResult,
  LabContainer,
  Pod,
  PodOptions,
} from './pod.ts';
export {
  type LabRegistry,
  type RegistryFaults,
  type RegistryOptions,
  type RegistryRequest,
  type ServedImage,
  startRegistry,
} from './registry.ts';
export {
  type CallPoint,
  type ChangingCall,
  changingCalls,
  type RuntimeRelay,
  startRuntimeRelay,
} from './runtime-relay.ts';
export { systemBus } from './system-bus.ts';
export { bootSystemd, type LabMachine, type SystemdOptions } from './systemd.ts';
export { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
export { counting, holdingMemory, idle, serving, type Workload } from './workload.ts';
