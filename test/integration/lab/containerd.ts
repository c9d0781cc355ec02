import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { ImageService, RuntimeService } from '../../../src/agent/runtime/gen/cri_pb.js';
import type { SupervisedProcess } from '../../support/index.ts';
import {
  cgroupName,
  runCommand,
  runSuccessfully,
  startProcess,
  temporaryFolder,
  waitFor,
} from '../../support/index.ts';
import { bridgeConfiguration, cniConfiguration } from './cni.ts';
import type { ContainerdVersion } from './containerd-config.ts';
import { containerdConfig, image } from './containerd-config.ts';
import { removeRemains } from './containerd-remains.ts';
import type { CriClient } from './cri.ts';
import { connectCri } from './cri.ts';
import { fetched } from './folder.ts';
import type { LabNamespace } from './namespace.ts';
import { insideEnvironment } from './namespace.ts';
import type { Pod, PodOptions } from './pod.ts';
import { startPod } from './pod.ts';

export interface ContainerdOptions {
  /** Default `2.1`, which knows checkpoints; `1.6` does not. */
  version?: ContainerdVersion;
  /** A pod network, so that the runtime says NetworkReady; default false. */
  cni?: boolean;
  /** Runs inside of it, with pods on a bridge and ports of that node for them; `cni` says nothing then. */
  namespace?: LabNamespace;
  /** Without criu in the folders where it is looked for; default false. */
  withoutCriu?: boolean;
  /** With a namespace: its root is a file system of that size, which a test can fill; default the disk of the test. */
  rootMiB?: number;
  /** A network that fails or hangs as files in `FOLDER/cni-faults` say: `fail-ADD`, `hang-DEL`; default false. */
  cniFaults?: boolean;
}

/**
 * A containerd of the test's own: its folders, socket, runc state and cgroups are shared with no other, so
 * several may run at once. Disposal ends it and every workload, also paused ones and those of a containerd
 * that was killed, and removes every trace.
 */
export interface LabContainerd extends AsyncDisposable {
  readonly socket: string;
  /** `unix://` and the socket, as `--container-runtime-endpoint` wants it. */
  readonly endpoint: string;
  readonly folder: string;
  /** What `containerd --version` says of itself, e.g. `2.1.9+unknown`. */
  readonly release: string;
  /** Of the containerd running now; another after a restart. */
  readonly pid: number;
  readonly cri: CriClient;
  /** What it logged since it was last started. */
  readonly log: string;
  /** Runs `ctr` in the namespace of CRI and returns its output; throws when it fails. */
  ctr(...argv: string[]): Promise<string>;
  startPod(options?: PodOptions): Promise<Pod>;
  /** `RUNNING`, `PAUSED` … as containerd's task service says, undefined when there is no such task. */
  taskState(containerId: string): Promise<string | undefined>;
  /** Ends containerd alone: SIGTERM. Workloads run on. */
  stop(): Promise<void>;
  /** SIGKILL to containerd alone. */
  kill9(): Promise<void>;
  /** Starts it again after `stop` or `kill9`, or stops and starts it. */
  restart(): Promise<void>;
}

/** Starts a real containerd and resolves when its CRI answers and the image is there. Needs root. */
export async function startContainerd(options: ContainerdOptions = {}): Promise<LabContainerd> {
  const {
    version = '2.1',
    cni = false,
    withoutCriu = false,
    rootMiB,
    cniFaults = false,
    namespace,
  } = options;
  if (process.getuid?.() !== 0) throw new Error('containerd needs root');
  await using setup = new AsyncDisposableStack();
  const { path: folder } = setup.use(await temporaryFolder('containerd-'));
  const all = fetched(`containerd-${version}`, 'bin');
  const binaries = withoutCriu ? await linksWithout('criu', all, join(folder, 'bin')) : all;
  const socket = join(folder, 'containerd.sock');
  const runc = join(binaries, 'runc');
  const cgroup = cgroupName(folder);
  const cniBinaries = cniFaults ? await faultyPlugins(folder) : fetched('cni/bin');
  const network =
    namespace !== undefined ? bridgeConfiguration(folder) : cni ? cniConfiguration(folder) : undefined;
  await prepare(folder, containerdConfig({ version, folder, socket, runc, cniBinaries }), network);
  const run = namespace?.run ?? runCommand;
  if (rootMiB !== undefined) {
    const mounting = ['-t', 'tmpfs', '-o', `size=${rootMiB}m`, 'root', join(folder, 'root')];
    const { code, stderr } = await run('mount', mounting);
    if (code !== 0) throw new Error(`cannot mount the root of containerd: ${stderr}`);
  }
  setup.defer(() => removeRemains({ folder, socket, runc, cgroup, run }));
  const commandLine = (name: string, argv: readonly string[]): [string, ...string[]] =>
    namespace?.inside(join(binaries, name), argv) ?? [join(binaries, name), ...argv];

  const cri = setup.use(connectCri(socket));
  const ctr = (...argv: string[]): Promise<string> => {
    const [command, ...rest] = commandLine('ctr', ['--address', socket, '--namespace', 'k8s.io', ...argv]);
    return runSuccessfully(command, rest);
  };
  const start = async (): Promise<SupervisedProcess> => {
    const env = environment(folder, binaries);
    const [command, ...argv] = commandLine('containerd', ['-c', join(folder, 'config.toml')]);
    const child = await startProcess(command, argv, {
      cwd: folder,
      env: namespace === undefined ? env : insideEnvironment(env),
    });
    await untilServing(child, cri).catch(async (error: unknown) => {
      await child.kill9();
      throw error;
    });
    return child;
  };
  let running = await start();
  setup.defer(async () => {
    await running.stop();
  });
  await ctr('images', 'import', fetched('image/busybox.tar'));
  await waitFor('the image to be known to CRI, which hears of it later', async () => {
    const { images } = await cri.call(ImageService.method.listImages, {});
    return images.some(({ repoTags }) => repoTags.includes(image));
  });
  const release = await cri.call(RuntimeService.method.version, {});

  const resources = setup.move();
  return {
    socket,
    endpoint: `unix://${socket}`,
    folder,
    release: release.runtimeVersion,
    cri,
    ctr,
    get pid() {
      return running.pid;
    },
    get log() {
      return running.stderr;
    },
    startPod: (pod) => startPod({ cri, cgroup, logFolder: join(folder, 'logs') }, pod),
    taskState: async (id) => taskStates(await ctr('tasks', 'ls')).get(id),
    stop: async () => {
      await running.stop();
    },
    kill9: async () => {
      await running.kill9();
    },
    restart: async () => {
      await running.stop();
      running = await start();
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** A folder with links to all programs of another but one. */
async function linksWithout(name: string, from: string, to: string): Promise<string> {
  await mkdir(to);
  const names = (await readdir(from)).filter((each) => each !== name);
  await Promise.all(names.map((each) => symlink(join(from, each), join(to, each))));
  return to;
}

/** The last plugin of the chain does what a file says, before it does its work. */
async function faultyPlugins(folder: string): Promise<string> {
  const all = fetched('cni/bin');
  const faults = join(folder, 'cni-faults');
  await mkdir(faults);
  const binaries = await linksWithout('portmap', all, join(folder, 'cni-bin'));
  const failure = '{"cniVersion":"1.0.0","code":100,"msg":"the network is broken"}';
  const text = `#!/bin/sh
if [ -e "${faults}/hang-$CNI_COMMAND" ]; then exec sleep 3600; fi
if [ -e "${faults}/fail-$CNI_COMMAND" ]; then echo '${failure}'; exit 1; fi
exec "${join(all, 'portmap')}"
`;
  await writeFile(join(binaries, 'portmap'), text, { mode: 0o755 });
  return binaries;
}

async function prepare(folder: string, config: string, network: string | undefined): Promise<void> {
  await mkdir(join(folder, 'tmp'));
  await mkdir(join(folder, 'cni'));
  await mkdir(join(folder, 'root'));
  await writeFile(join(folder, 'config.toml'), config);
  if (network !== undefined) await writeFile(join(folder, 'cni/10-lab.conflist'), network);
}

/**
 * The path matters twice: containerd looks for the shim and criu there, and runc for criu. XDG_RUNTIME_DIR
 * is where it dumps a container's memory, left behind when it is killed in the middle.
 */
function environment(folder: string, binaries: string): NodeJS.ProcessEnv {
  const path = [binaries, '/usr/sbin', '/usr/bin', '/sbin', '/bin'].join(delimiter);
  const tmp = join(folder, 'tmp');
  return { ...process.env, PATH: path, TMPDIR: tmp, XDG_RUNTIME_DIR: tmp };
}

async function untilServing(child: SupervisedProcess, cri: CriClient): Promise<void> {
  const serving = async (): Promise<boolean | undefined> => {
    if (child.exit !== undefined) return false;
    const { status } = await cri.call(RuntimeService.method.status, {}, 2000);
    return status?.conditions.some(({ type, status: ok }) => type === 'RuntimeReady' && ok) || undefined;
  };
  const answer = await waitFor(
    'containerd to serve',
    async () => {
      const now = await serving();
      return now === undefined ? undefined : { now };
    },
    { timeoutMs: 60_000, intervalMs: 50 },
  );
  if (!answer.now) throw new Error(`containerd ended at its start:\n${child.stderr}`);
}

/** `TASK PID STATUS` in columns, a header above. */
function taskStates(table: string): Map<string, string> {
  const rows = table.trim().split('\n').slice(1);
  return new Map(
    rows.map((row) => {
      const [id = '', , state = ''] = row.split(/\s+/);
      return [id, state];
    }),
  );
}
