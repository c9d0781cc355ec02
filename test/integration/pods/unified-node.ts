import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../src/api/index.ts';
import { podKind } from '../../../src/api/index.ts';
import type { ApiClient } from '../../../src/client/index.ts';
import { clientOptionsOf, createClient, ifFound, readKubeconfig } from '../../../src/client/index.ts';
import { waitFor } from '../../support/index.ts';
import type { Kubectl, LabKernel } from '../lab/index.ts';
import { bootKernel, containerdConfig, kubectl } from '../lab/index.ts';
import { noPressure } from '../nodeward/index.ts';
import { containerOf, uidOf } from './conditions.ts';
import type { PodSpec } from './containers.ts';
import { WatchedPods } from './watched-pods.ts';

export interface UnifiedNodeOptions {
  /** Who makes the groups. */
  cgroupDriver: 'cgroupfs' | 'systemd';
  /** Further lines of the agent's configuration. */
  config?: string;
  /** Further arguments of the agent. */
  args?: readonly string[];
}

/**
 * A node whose kernel has control groups of version 2: containerd and the agent, with the control plane that it embeds, run in a
 * machine of `bootKernel`. Its pods use the network of the node.
 */
export interface UnifiedNode extends AsyncDisposable {
  readonly kernel: LabKernel;
  /** What the Node is called. */
  readonly name: string;
  readonly api: ApiClient;
  readonly pods: WatchedPods;
  readonly kubectl: Kubectl;
  /** Creates a pod on the node, in the namespace `default`, without a token; returns it as it was stored. */
  run(name: string, spec: PodSpec): Promise<Pod>;
  /** Asks for its end at once. */
  delete(name: string): Promise<void>;
  /** Gives the running agent other further lines of configuration. */
  configure(config: string): Promise<void>;
  /** Files of the group of the pod, or of one of its containers, by their names; the kernel's text, undefined where it is missing. */
  readGroup(
    pod: Pod,
    files: readonly string[],
    container?: string,
  ): Promise<Record<string, string | undefined>>;
  /** The same of a group by its path below the root. */
  readFiles(group: string, files: readonly string[]): Promise<Record<string, string | undefined>>;
  /** What agent and runtime have logged. */
  logs(): Promise<string>;
}

const name = 'lab';
const inside = {
  containerd: '/opt/lab/containerd-2.1/bin',
  node: '/opt/repository/node_modules/.bin/node',
  program: '/opt/repository/dist/main.js',
  /** Of the agent. */
  root: '/var/lib/nodeward',
  socket: '/run/containerd.sock',
};
const readyMs = 90_000;

/** Needs root and a built program. Resolves when the agent is ready. */
export async function startUnifiedNode(options: UnifiedNodeOptions): Promise<UnifiedNode> {
  await using setup = new AsyncDisposableStack();
  const kernel = setup.use(await bootKernel());
  const { folder } = kernel;
  const logs = () => logsOf(folder);
  await writeFile(join(folder, 'containerd.toml'), runtimeConfig(options));
  await writeFile(join(folder, 'config.yaml'), agentConfig(options.config));
  const kubeconfig = join(folder, 'kubeconfig');
  try {
    await kernel.sh(startRuntime);
    await kernel.sh(startAgent(kernel.address, options.args));
    await waitFor('the agent to be ready', async () => (await logs()).includes('nodeward is ready'), {
      timeoutMs: readyMs,
    });
    await kernel.sh(`cp ${inside.root}/admin.kubeconfig /shared/kubeconfig`);
  } catch (error) {
    throw new Error(`the node did not start:\n${await logs()}`, { cause: error });
  }
  const api = createClient({ ...clientOptionsOf(await readKubeconfig(kubeconfig)), connections: 16 });
  setup.defer(() => api.close());
  const pods = setup.use(new WatchedPods(api));
  const home = join(folder, 'home');
  await mkdir(home);
  const readFiles = async (group: string, files: readonly string[]) => {
    const each = 'for file in "$@"; do echo "$file"; cat "$file" 2> /dev/null; echo "---"; done';
    const text = await kernel.sh(`cd /sys/fs/cgroup/${group}; set -- ${files.join(' ')}; ${each}`);
    return parseFiles(text);
  };
  const resources = setup.move();
  return {
    ...{ kernel, name, api, pods, logs, readFiles },
    kubectl: kubectl(kubeconfig, home),
    run: (podName, spec) => {
      const whole = { automountServiceAccountToken: false, nodeName: name, hostNetwork: true, ...spec };
      return api.create(podKind, { metadata: { name: podName, namespace: 'default' }, spec: whole });
    },
    delete: async (podName) => {
      await ifFound(api.delete(podKind, podName, { namespace: 'default', gracePeriodSeconds: 0 }));
    },
    configure: async (config) => {
      await writeFile(join(folder, 'config.yaml'), agentConfig(config));
      await kernel.sh(`${inside.node} ${inside.program} reload --root-dir ${inside.root}`);
    },
    readGroup: async (pod, files, container) => {
      const id = container === undefined ? '' : containerOf(pod, container)?.containerID?.split('://')[1];
      const uid = options.cgroupDriver === 'systemd' ? uidOf(pod).replaceAll('-', '_') : uidOf(pod);
      const below = id === '' ? '' : `-path "*pod${uid}*" -name "*${id}*"`;
      const found = await kernel.sh(
        `cd /sys/fs/cgroup; find kubepods* -type d ${below === '' ? `-name "*pod${uid}*"` : below} | head -n 1`,
      );
      if (found.trim() === '') throw new Error(`pod ${pod.metadata?.name} has no group`);
      return await readFiles(found.trim(), files);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function runtimeConfig({ cgroupDriver }: UnifiedNodeOptions): string {
  return containerdConfig({
    version: '2.1',
    folder: '/var/lib/containerd',
    socket: inside.socket,
    runc: `${inside.containerd}/runc`,
    cniBinaries: '/opt/lab/cni/bin',
    cgroupDriver,
  });
}

function agentConfig(more = ''): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
${more.includes('evictionHard') ? more : `${noPressure}\n${more}`}`;
}

/** Its layers are in memory: an overlay cannot lie on another. */
const startRuntime = `
mkdir -p /var/lib/containerd
mount -t tmpfs containerd /var/lib/containerd
export PATH=${inside.containerd}:$PATH
setsid containerd --config /shared/containerd.toml > /shared/containerd.log 2>&1 &
ctr="ctr --address ${inside.socket} --namespace k8s.io"
for try in $(seq 300); do $ctr version > /dev/null 2>&1 && break; sleep 0.1; done
$ctr images import /opt/lab/image/busybox.tar > /dev/null`;

function startAgent(address: string, args: readonly string[] = []): string {
  const argv = [
    ...['agent', '--root-dir', inside.root, '--config', '/shared/config.yaml', '--hostname-override', name],
    ...['--container-runtime-endpoint', `unix://${inside.socket}`, '--bind-address', address],
    ...['--secure-port', '6443', '--port', '10250', ...args],
  ];
  return `NODEWARD_COMMAND=nodeward setsid ${inside.node} ${inside.program} ${argv.join(' ')} > /shared/agent.log 2>&1 &`;
}

async function logsOf(folder: string): Promise<string> {
  const texts = ['containerd.log', 'agent.log'].map((file) =>
    readFile(join(folder, file), 'utf8').catch(() => ''),
  );
  return (await Promise.all(texts)).join('\n');
}

/** A line with the name, the text, and a line of dashes; files of groups have no such line. */
function parseFiles(text: string): Record<string, string | undefined> {
  const parts = text.split('---\n').filter((part) => part.trim() !== '');
  return Object.fromEntries(
    parts.map((part) => {
      const end = part.indexOf('\n');
      const content = part.slice(end + 1).trim();
      return [part.slice(0, end).trim(), content === '' ? undefined : content];
    }),
  );
}
