import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ContainerStatus, SecurityProfileSchema } from '../../../src/agent/runtime/gen/cri_pb.js';
import { NamespaceMode, RuntimeService } from '../../../src/agent/runtime/gen/cri_pb.js';
import { waitFor } from '../../support/index.ts';
import { image } from './containerd-config.ts';
import type { CriClient } from './cri.ts';
import type { Workload } from './workload.ts';
import { counting } from './workload.ts';

export interface PodOptions {
  /** Default `pod-` and some random letters. */
  name?: string;
  /** Default `default`. */
  namespace?: string;
  /** Default `host`; `pod` needs a runtime with CNI. */
  network?: 'host' | 'pod';
  /** Ports of the node that lead to ports of the pod; needs a runtime in a namespace of its own. */
  ports?: readonly { hostPort: number; containerPort: number }[];
}

export interface ContainerOptions {
  /** Default `main`. */
  name?: string;
  /** Default: the lab's own. */
  image?: string;
  /** Default: `counting()`. */
  workload?: Workload;
  env?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  /** As the runtime is told it; default nothing, which is unconfined. */
  seccomp?: MessageInitShape<typeof SecurityProfileSchema>;
  /** False: CreateContainer only; default true. */
  start?: boolean;
}

export interface ExecResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}

export interface Pod {
  /** The sandbox's id. */
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** Starts another container of the pod. */
  startContainer(options?: ContainerOptions): Promise<LabContainer>;
  /** Stops and removes the sandbox with its containers. */
  remove(): Promise<void>;
}

/** A container that was made over CRI as the reference's agent makes it, as user 0. */
export interface LabContainer {
  readonly id: string;
  readonly name: string;
  /** Its first process, as this machine numbers it; 0 when it was not started. */
  readonly pid: number;
  status(): Promise<ContainerStatus>;
  exec(...command: string[]): Promise<ExecResult>;
  /** How far it counted; read from its file system without the runtime's help. 0 before the first. */
  count(): Promise<number>;
  /** Resolves when it has counted on since the call; fails after 10 s: it is frozen or gone. */
  countsOn(): Promise<void>;
  /** StopContainer; the workload gets SIGTERM and `graceSeconds` (default 2). */
  stop(graceSeconds?: number): Promise<void>;
}

export interface PodPlace {
  cri: CriClient;
  /** Where the containers' logs go. */
  logFolder: string;
  /** The cgroup above every pod's. */
  cgroup: string;
}

/** Runs a sandbox that carries the labels by which an agent finds a pod. */
export async function startPod(place: PodPlace, options: PodOptions = {}): Promise<Pod> {
  const uid = crypto.randomUUID();
  const { name = `pod-${uid.slice(0, 8)}`, namespace = 'default', network = 'host', ports = [] } = options;
  const labels = podLabels(name, namespace, uid);
  const logDirectory = join(place.logFolder, `${namespace}_${name}_${uid}`);
  await mkdir(logDirectory, { recursive: true });
  const config = {
    metadata: { name, namespace, uid, attempt: 0 },
    ...(network === 'pod' ? { hostname: name } : {}),
    logDirectory,
    labels,
    portMappings: [...ports],
    linux: {
      cgroupParent: `/${place.cgroup}/pod${uid}`,
      securityContext: {
        namespaceOptions: {
          network: network === 'pod' ? NamespaceMode.POD : NamespaceMode.NODE,
          pid: NamespaceMode.CONTAINER,
        },
      },
    },
  };
  const { podSandboxId } = await place.cri.call(RuntimeService.method.runPodSandbox, { config });
  return {
    id: podSandboxId,
    name,
    namespace,
    uid,
    startContainer: (container = {}) =>
      startContainer({ cri: place.cri, podSandboxId, config, labels }, container),
    remove: async () => {
      await place.cri.call(RuntimeService.method.stopPodSandbox, { podSandboxId });
      await place.cri.call(RuntimeService.method.removePodSandbox, { podSandboxId });
    },
  };
}

function podLabels(name: string, namespace: string, uid: string): Record<string, string> {
  return {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': namespace,
    'io.kubernetes.pod.uid': uid,
  };
}

interface Sandbox {
  cri: CriClient;
  podSandboxId: string;
  config: {
    linux: { securityContext: { namespaceOptions: { network: NamespaceMode; pid: NamespaceMode } } };
  };
  labels: Record<string, string>;
}

async function startContainer(sandbox: Sandbox, options: ContainerOptions): Promise<LabContainer> {
  const { cri, podSandboxId } = sandbox;
  const { containerId } = await cri.call(RuntimeService.method.createContainer, {
    podSandboxId,
    sandboxConfig: sandbox.config,
    config: containerConfig(sandbox, options),
  });
  const started = options.start ?? true;
  if (started) await cri.call(RuntimeService.method.startContainer, { containerId });
  const pid = started ? await firstProcess(cri, containerId) : 0;
  const container = handle(cri, containerId, options.name ?? 'main', pid);
  return container;
}

function containerConfig(sandbox: Sandbox, options: ContainerOptions) {
  const { name = 'main', workload = counting(), env = {}, annotations = {}, seccomp } = options;
  const ofImage = options.image ?? image;
  // the test runner finds what a test left behind by this variable
  const marker = process.env['NODEWARD_TEST_FILE'];
  const variables = { ...(marker === undefined ? {} : { NODEWARD_TEST_FILE: marker }), ...env };
  return {
    metadata: { name, attempt: 0 },
    image: { image: ofImage },
    command: [...workload.command],
    envs: Object.entries(variables).map(([key, value]) => ({ key, value: Buffer.from(value) })),
    labels: { ...sandbox.labels, 'io.kubernetes.container.name': name },
    annotations: { ...annotations },
    logPath: `${name}.log`,
    linux: {
      securityContext: {
        namespaceOptions: sandbox.config.linux.securityContext.namespaceOptions,
        runAsUser: { value: 0n },
        ...(seccomp === undefined ? {} : { seccomp }),
      },
    },
  };
}

async function firstProcess(cri: CriClient, containerId: string): Promise<number> {
  const { info } = await cri.call(RuntimeService.method.containerStatus, { containerId, verbose: true });
  const details: unknown = JSON.parse(info['info'] ?? '{}');
  if (typeof details === 'object' && details !== null && 'pid' in details) return Number(details.pid);
  throw new Error(`the runtime does not tell the pid of container ${containerId}`);
}

function handle(cri: CriClient, containerId: string, name: string, pid: number): LabContainer {
  const count = async (): Promise<number> => {
    return Number(await readFile(`/proc/${pid}/root/data/count`, 'utf8').catch(() => '0'));
  };
  return {
    id: containerId,
    name,
    pid,
    count,
    status: async () => {
      const { status } = await cri.call(RuntimeService.method.containerStatus, { containerId });
      if (status === undefined) throw new Error(`the runtime answers no status of container ${containerId}`);
      return status;
    },
    exec: async (...cmd) => {
      const request = { containerId, cmd, timeout: 10n };
      const answer = await cri.call(RuntimeService.method.execSync, request);
      const [stdout, stderr] = [answer.stdout, answer.stderr].map((each) => Buffer.from(each).toString());
      return { stdout: stdout ?? '', stderr: stderr ?? '', exitCode: answer.exitCode };
    },
    countsOn: async () => {
      const before = await count();
      await waitFor(`container ${name} to count beyond ${before}`, async () => (await count()) > before);
    },
    stop: async (graceSeconds = 2) => {
      await cri.call(RuntimeService.method.stopContainer, { containerId, timeout: BigInt(graceSeconds) });
    },
  };
}
