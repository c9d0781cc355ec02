import { join } from 'node:path';

/** `2.1` is what `scripts/lab/fetch` found in Debian's sid, at least 2.1. */
export type ContainerdVersion = '2.1' | '1.6';

/** The image that every sandbox and container runs. */
export const image = 'localhost/lab/busybox:1';

export interface ConfigFacts {
  version: ContainerdVersion;
  /** Everything the runtime writes is below it. */
  folder: string;
  socket: string;
  runc: string;
  cniBinaries: string;
  /** Who makes the groups of containers; default `cgroupfs`: runc itself. */
  cgroupDriver?: 'cgroupfs' | 'systemd';
}

/**
 * A configuration that shares nothing with another containerd on the machine, and needs neither AppArmor
 * nor the right to lower a process's OOM score.
 */
export function containerdConfig(facts: ConfigFacts): string {
  return facts.version === '2.1' ? version3(facts) : version2(facts);
}

const shared = ({ folder, socket }: ConfigFacts): string => `
root = "${join(folder, 'root')}"
state = "${join(folder, 'state')}"
[grpc]
  address = "${socket}"
[ttrpc]
  address = "${socket}.ttrpc"
[plugins.'io.containerd.internal.v1.opt']
  path = "${join(folder, 'opt')}"
`;

const runcOptions = ({ folder, runc, cgroupDriver }: ConfigFacts): string => `
  BinaryName = "${runc}"
  Root = "${join(folder, 'runc')}"
  SystemdCgroup = ${cgroupDriver === 'systemd'}
`;

const version3 = (facts: ConfigFacts): string => `
version = 3
disabled_plugins = [
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.nri.v1.nri",
]
${shared(facts)}
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "${image}"
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
  container_annotations = ["org.criu.config"]
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
${runcOptions(facts)}
[plugins.'io.containerd.cri.v1.runtime'.cni]
  bin_dirs = ["${facts.cniBinaries}"]
  conf_dir = "${join(facts.folder, 'cni')}"
`;

const version2 = (facts: ConfigFacts): string => `
version = 2
disabled_plugins = [
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing",
]
${shared(facts)}
[plugins.'io.containerd.grpc.v1.cri']
  sandbox_image = "${image}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
[plugins.'io.containerd.grpc.v1.cri'.containerd]
  snapshotter = "overlayfs"
[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]
${runcOptions(facts)}
[plugins.'io.containerd.grpc.v1.cri'.cni]
  bin_dir = "${facts.cniBinaries}"
  conf_dir = "${join(facts.folder, 'cni')}"
`;
