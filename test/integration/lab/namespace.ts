import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { CommandOptions, CommandResult, StartOptions, SupervisedProcess } from '../../support/index.ts';
import {
  cgroupName,
  removeCgroup,
  runCommand,
  runSuccessfully,
  startProcess,
  temporaryFolder,
} from '../../support/index.ts';
import { freeSubnet } from './cni.ts';
import { fetched } from './folder.ts';

/**
 * A network and the mounts of a machine of its own, as far as a container runtime and an agent can tell: `eth0` with an
 * address, no other's bridges and firewall, an empty /run, and /var/log in a folder of the test. Processes, cgroups
 * and files are this machine's. One process holds it; with that and those inside, its links, rules and mounts vanish.
 */
export interface LabNamespace extends AsyncDisposable {
  /** The pid of the process that holds it. Files as they are seen inside are below /proc/PID/root. */
  readonly holder: number;
  /** Seen at the same path inside and outside. */
  readonly folder: string;
  /** What is /var/log inside. */
  readonly logFolder: string;
  /** The address of `eth0`; this machine reaches it, too. */
  readonly address: string;
  /** Where this machine is reached from inside: the other end of `eth0`. */
  readonly outside: string;
  /** The name of a cgroup for what is run inside, below the root; removed on disposal with all that is in it. */
  readonly cgroup: string;
  /** The command line that runs a program inside, which keeps the pid. Its working folder becomes `/`. */
  inside(command: string, argv?: readonly string[]): [string, ...string[]];
  /** Runs a program inside to its end, whatever its exit code; the lab's iptables and kubectl are in its path. */
  run(command: string, argv?: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Starts one that runs on. */
  start(command: string, argv?: readonly string[], options?: StartOptions): Promise<SupervisedProcess>;
}

/** Needs root. */
export async function startNamespace(): Promise<LabNamespace> {
  await using setup = new AsyncDisposableStack();
  const { path: folder } = setup.use(await temporaryFolder('node-'));
  const cgroup = cgroupName(folder);
  setup.defer(async () => {
    await removeCgroup(cgroup);
  });
  const logFolder = join(folder, 'log');
  await mkdir(logFolder);
  const holder = setup.use(await startHolder(logFolder));
  const subnet = freeSubnet('10.198').replace('.0/24', '');
  const [outside, address] = [`${subnet}.1`, `${subnet}.2`];
  await connect(holder.pid, outside, address);

  const inside = (command: string, argv: readonly string[] = []): [string, ...string[]] => {
    return ['nsenter', `--target=${holder.pid}`, '--net', '--mount', '--', command, ...argv];
  };
  const resources = setup.move();
  return {
    holder: holder.pid,
    folder,
    logFolder,
    address,
    outside,
    cgroup,
    inside,
    run: (command, argv, options) => {
      const [program, ...rest] = inside(command, argv);
      return runCommand(program, rest, { ...options, env: insideEnvironment(options?.env) });
    },
    start: (command, argv, options) => {
      const [program, ...rest] = inside(command, argv);
      return startProcess(program, rest, { ...options, env: insideEnvironment(options?.env) });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Variables for what runs inside: those given or this process's own, with the lab's programs first in the path. */
export function insideEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const path = [
    fetched('iptables/bin'),
    fetched('tools/bin'),
    env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin',
  ];
  return { ...env, PATH: path.join(delimiter) };
}

/** Shared mounts are what a machine has that systemd started: volumes that pods share with it count on them. */
async function startHolder(logFolder: string): Promise<SupervisedProcess> {
  const script = `
    mount --make-rshared /
    mount -t tmpfs -o mode=755 run /run
    mount --bind "$1" /var/log
    ip link set lo up
    echo 1 > /proc/sys/net/ipv4/ip_forward
    echo held
    exec sleep infinity`;
  const holder = await startProcess('unshare', [
    '--net',
    '--mount',
    'sh',
    '-ec',
    script,
    'holder',
    logFolder,
  ]);
  await holder.waitForOutput(/^held$/m).catch(async (error: unknown) => {
    await holder.stop();
    throw error;
  });
  return holder;
}

/** A cable between this machine and the namespace; it goes with the end that is inside. */
async function connect(holder: number, outside: string, address: string): Promise<void> {
  const link = `nwl${randomBytes(5).toString('hex')}`; // names of links have 15 characters at most
  const ip = (line: string) => runSuccessfully('ip', line.split(' '));
  const ipInside = (line: string) =>
    runSuccessfully('nsenter', [`--target=${holder}`, '--net', 'ip', ...line.split(' ')]);
  await ip(`link add ${link} type veth peer name eth0 netns ${holder}`);
  await ip(`address add ${outside}/24 dev ${link}`);
  await ip(`link set ${link} up`);
  await ipInside(`address add ${address}/24 dev eth0`);
  await ipInside('link set eth0 up');
  await ipInside(`route add default via ${outside}`);
}
