import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../src/api/index.ts';
import { podKind } from '../../../src/api/index.ts';
import type { ApiClient } from '../../../src/client/index.ts';
import { clientOptionsOf, createClient, ifFound, readKubeconfig } from '../../../src/client/index.ts';
import { runCommand, temporaryFolder } from '../../support/index.ts';
import type { ContainerdOptions, Kubectl, LabNode, RuntimeRelay } from '../lab/index.ts';
import { kubectl, startLabNode, startRuntimeRelay } from '../lab/index.ts';
import type { RunningAgent } from '../nodeward/index.ts';
import { nodeward, noPressure, startAgent } from '../nodeward/index.ts';
import type { PodSpec } from './containers.ts';
import { WatchedPods } from './watched-pods.ts';

export interface PodNodeOptions {
  /** Further lines of the agent's configuration. */
  config?: string;
  /** Further arguments of the agent. */
  args?: readonly string[];
  /** Of the agent, in addition to that of the test. */
  env?: NodeJS.ProcessEnv;
  /** The agent reaches the runtime through a relay; default false. */
  relayed?: boolean;
  containerd?: Omit<ContainerdOptions, 'namespace'>;
  /** The agent's root folder is a file system of its own, of so many MiB; default: it lies on that of the test. */
  rootMebibytes?: number;
}

/**
 * A node of the lab whose agent, with the control plane that it embeds, runs pods. The network is its own, so the ports
 * are the same after a restart of the agent, and clients go on.
 */
export interface PodNode extends AsyncDisposable {
  readonly node: LabNode;
  /** Between the agent and the runtime, where it was asked for. */
  readonly relay: RuntimeRelay | undefined;
  /** What the Node is called. */
  readonly name: string;
  /** The one running now; another after `restartAgent`. */
  readonly agent: RunningAgent;
  readonly api: ApiClient;
  readonly pods: WatchedPods;
  readonly kubectl: Kubectl;
  readonly rootDir: string;
  /** The folder of static pods. */
  readonly manifests: string;
  /** Creates a pod on the node, in the namespace `default`, without a token; returns it as it was stored. */
  run(name: string, spec: PodSpec, metadata?: Pod['metadata']): Promise<Pod>;
  /** Asks for its end; `graceSeconds` default: its own. */
  delete(name: string, graceSeconds?: number): Promise<void>;
  /** Gives the running agent other further lines of configuration. */
  configure(config: string): Promise<void>;
  /** Ends the agent, with SIGKILL or as Ctrl-C does, and starts it again. */
  restartAgent(how: 'kill9' | 'interrupt'): Promise<void>;
}

const name = 'lab';
const securePort = '6443';
const agentPort = '10250';

/** Needs root. Resolves when the agent is ready. */
export async function startPodNode(options: PodNodeOptions = {}): Promise<PodNode> {
  await using setup = new AsyncDisposableStack();
  const home = setup.use(await temporaryFolder('pods-'));
  const [rootDir, manifests] = [join(home.path, 'root'), join(home.path, 'manifests')];
  if (options.rootMebibytes !== undefined) setup.use(await smallDisk(rootDir, options.rootMebibytes));
  const node = setup.use(await startLabNode(options.containerd));
  const { containerd } = node;
  const relay = options.relayed === true ? setup.use(await startRuntimeRelay(containerd.socket)) : undefined;
  const configPath = join(home.path, 'config.yaml');
  await mkdir(manifests);
  await writeFile(configPath, configuration(node, manifests, options.config));
  const args = [
    ...['--config', configPath, '--hostname-override', name],
    ...['--container-runtime-endpoint', (relay ?? containerd).endpoint],
    ...['--bind-address', node.address, '--secure-port', securePort, '--port', agentPort],
    ...(options.args ?? []),
  ];
  const { env = {} } = options;
  const start = () => startAgent({ rootDir, args, namespace: node, env });
  let agent = await start();
  setup.defer(() => agent[Symbol.asyncDispose]());
  const { kubeconfig = '' } = agent.summary;
  const api = createClient({ ...clientOptionsOf(await readKubeconfig(kubeconfig)), connections: 16 });
  setup.defer(() => api.close());
  const pods = setup.use(new WatchedPods(api));

  const resources = setup.move();
  return {
    ...{ node, relay, name, api, pods, rootDir, manifests },
    kubectl: kubectl(kubeconfig, home.path),
    get agent() {
      return agent;
    },
    run: (podName, spec, metadata) => {
      const whole = { automountServiceAccountToken: false, nodeName: name, ...spec };
      const object = { metadata: { ...metadata, name: podName, namespace: 'default' }, spec: whole };
      return api.create(podKind, object);
    },
    delete: async (podName, graceSeconds) => {
      const grace = graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds };
      await ifFound(api.delete(podKind, podName, { namespace: 'default', ...grace }));
    },
    configure: async (config) => {
      await writeFile(configPath, configuration(node, manifests, config));
      const { code, stderr } = await nodeward(['reload', '--root-dir', rootDir]);
      if (code !== 0) throw new Error(`the configuration was not taken: ${stderr}`);
    },
    restartAgent: async (how) => {
      await (how === 'kill9' ? agent.process.kill9() : agent.interrupt());
      agent = await start();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** In memory, before the namespaces of the node are made, which have it then. */
async function smallDisk(path: string, mebibytes: number): Promise<AsyncDisposable> {
  await mkdir(path);
  const { code, stderr } = await runCommand('mount', [
    ...['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0700`, 'small', path],
  ]);
  if (code !== 0) throw new Error(`cannot mount a small disk: ${stderr}`);
  return { [Symbol.asyncDispose]: async () => void (await runCommand('umount', ['--lazy', path])) };
}

/** Everything that the agent makes outside its root folder is where disposal of the node finds it. */
function configuration({ cgroup }: LabNode, manifests: string, more = ''): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${manifests}
cgroupRoot: /${cgroup}
failCgroupV1: false
${more.includes('evictionHard') ? more : `${noPressure}\n${more}`}`;
}
