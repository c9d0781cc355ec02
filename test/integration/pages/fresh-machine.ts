import { chmod, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CommandResult } from '../../support/index.ts';
import { runSuccessfully, temporaryFolder, waitFor } from '../../support/index.ts';
import type { LabMachine } from '../lab/index.ts';
import { bootSystemd, fetched, repository } from '../lab/index.ts';
import { cloneOrigin } from './origin.ts';
import type { StandInRegistry } from './stand-in-registry.ts';
import { standIns } from './stand-ins.ts';

export type Release = 'bookworm' | 'trixie';
export type Person = 'root' | 'me';

/** The clients of the release's own package; of containerd the nearest that the lab has. */
const kubectlOf: Readonly<Record<Release, string>> = { bookworm: 'kubectl-1.20', trixie: 'kubectl-1.32' };

const containerdOf: Readonly<Record<Release, string>> = {
  bookworm: 'containerd-1.6',
  trixie: 'containerd-2.1',
};

const homes: Readonly<Record<Person, string>> = { root: '/root', me: '/home/me' };

/** A command that goes on until it is told to end. */
export interface Foreground {
  output(): Promise<string>;
  /** As Ctrl-C does. Resolves with its exit code when it has ended. */
  interrupt(): Promise<number>;
}

/** One shell of a person, which reads the blocks of one page: what they export, and where they go, counts for the next. */
export interface Shell {
  /** Another one instead, in the checkout. */
  newShell(): Promise<void>;
  /** Runs a script in it. It ends at the first command that fails. */
  run(script: string): Promise<CommandResult>;
  /** Starts a script in it, and resolves when it has written what matches. */
  start(script: string, until: RegExp): Promise<Foreground>;
  /** Runs a script as root, beside the shell. */
  asRoot(script: string): Promise<CommandResult>;
}

/** A fresh Debian with systemd, named `vm`, where a person has a checkout in ~/nodeward, and a shell. */
export interface FreshMachine extends Shell, AsyncDisposable {
  readonly machine: LabMachine;
  /** The shell that the person has after `sudo -s`. */
  readonly rootShell: Shell;
}

export interface FreshMachineOptions {
  release: Release;
  person: Person;
  /** As makeOrigin has made it. */
  origin: string;
  registry: StandInRegistry;
  /** A folder of this machine that is /opt/between inside. */
  between: string;
}

export async function bootFreshMachine(options: FreshMachineOptions): Promise<FreshMachine> {
  const { release, person, origin, registry, between } = options;
  await using stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder('fresh-'));
  const seed = join(folder, 'seed');
  const checkout = join(homes[person], 'nodeward');
  await cloneOrigin(origin, join(seed, checkout), '/opt/origin');
  await writeStandIns(seed);
  const machine = stack.use(
    await bootSystemd({
      root: release,
      seed,
      binds: { '/opt/between': between },
      readOnlyBinds: {
        '/opt/own/usr': '/usr',
        '/opt/origin': origin,
        '/opt/packages/node_modules': await realpath(join(repository, 'node_modules')),
        '/opt/packages/package-lock.json': join(repository, 'package-lock.json'),
        '/opt/packages/containerd': fetched(containerdOf[release], 'bin'),
        '/opt/packages/cni': fetched('cni/bin'),
        '/opt/packages/iptables': fetched('iptables'),
        '/usr/bin/kubectl': fetched(kubectlOf[release], 'bin/kubectl'),
      },
    }),
  );
  await machine.sh(preparation);
  stack.use(await registry.connectTo(machine));
  const shell = shellOf(machine, person, checkout);
  const resources = stack.move();
  return {
    machine,
    ...shell,
    rootShell: person === 'root' ? shell : shellOf(machine, 'root', checkout),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

async function writeStandIns(seed: string): Promise<void> {
  for (const [path, text] of Object.entries(standIns)) {
    await mkdir(dirname(join(seed, path)), { recursive: true });
    await writeFile(join(seed, path), text);
    await chmod(join(seed, path), 0o755);
  }
}

/**
 * An account with the right to use sudo, and what else an installed Debian has: a disk on which containers can be, and
 * settings of the network that can be changed.
 */
const preparation = `
hostname vm
echo '127.0.0.1 localhost vm' > /etc/hosts
echo 'me:x:1000:1000::/home/me:/bin/bash' >> /etc/passwd
echo 'me:x:1000:' >> /etc/group
sed -i 's/^sudo:.*/sudo:x:27:me/' /etc/group
mkdir -p /root /home/me
chmod 700 /root /home/me
chown -R me:me /home/me
install -D -m 4750 -g sudo /usr/bin/setpriv /usr/libexec/become-root
echo nameserver 192.0.2.53 > /etc/resolv.conf
mkdir -p /mnt /var/lib/containerd
mount -t tmpfs containerd /var/lib/containerd
mount --bind /proc/sys/net /proc/sys/net
mount -o remount,bind,rw /proc/sys/net
printf '[safe]\\n\\tdirectory = *\\n' > /etc/gitconfig
`;

function shellOf(machine: LabMachine, person: Person, checkout: string): Shell {
  const state = `/tmp/shell-${person}`;
  let foregrounds = 0;
  const identity = person === 'root' ? [] : ['setpriv', '--reuid=me', '--regid=me', '--init-groups'];
  const environment = [
    'env',
    '-i',
    `HOME=${homes[person]}`,
    `USER=${person}`,
    'LANG=C.UTF-8',
    `PATH=${pathOf(person)}`,
  ];
  const bash = (...argv: string[]) =>
    machine.run([...identity, ...environment, 'bash', ...argv], { timeoutMs: 120_000 });
  const inShell = (script: string) =>
    `. ${state}\n${script}\n{ export -p; printf 'cd %q\\n' "$PWD"; } > ${state}`;
  const strict = ['--norc', '-euo', 'pipefail', '-c'];
  const start = async (script: string, until: RegExp): Promise<Foreground> => {
    const files = `${state}-${++foregrounds}`;
    const output = async () => await readFile(await machine.hostPath(`${files}-output`), 'utf8');
    const inner = [...strict, inShell(script)].map(quote).join(' ');
    const started = await bash(
      '-c',
      `set -m; { bash ${inner}; echo $? > ${files}-code; } < /dev/null > ${files}-output 2>&1 & echo $!`,
    );
    const group = started.stdout.trim();
    const ended = async () => (await machine.run(['test', '-e', `${files}-code`])).code === 0;
    await waitFor(`${until} from ${script}`, async () => until.test(await output()) || (await ended()), {
      timeoutMs: 180_000,
    });
    if (!until.test(await output())) throw new Error(`${script} ended before ${until}:\n${await output()}`);
    const interrupt = async () => {
      const wait = `while kill -0 -- -${group}; do sleep 0.05; done; cat ${files}-code || echo 130`;
      const stopped = await machine.run(['bash', '-c', `kill -INT -- -${group}; ${wait}`]);
      return Number(stopped.stdout);
    };
    return { output, interrupt };
  };
  return {
    newShell: async () =>
      void (await machine.sh(`echo 'cd ${checkout}' > ${state}; chown ${person} ${state}`)),
    run: (script) => bash(...strict, inShell(script)),
    start,
    asRoot: (script) =>
      machine.run(['env', '--chdir', checkout, 'bash', ...strict, script], {
        timeoutMs: 120_000,
      }),
  };
}

function pathOf(person: Person): string {
  const system = person === 'root' ? '/usr/local/sbin:/usr/sbin:/sbin:' : '';
  return `${system}/usr/local/bin:/usr/bin:/bin`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** One cable between two machines, with the addresses of the pages: 192.0.2.1, and 192.0.2.7. It goes with the machines. */
export async function connect(first: FreshMachine, second: FreshMachine): Promise<void> {
  const [one, two] = [await first.machine.pid(), await second.machine.pid()];
  const names = [`nw${one}`, `nw${two}`] as const;
  await ip(
    'link',
    'add',
    names[0],
    'netns',
    `${one}`,
    'type',
    'veth',
    'peer',
    'name',
    names[1],
    'netns',
    `${two}`,
  );
  for (const [pid, name, address] of [
    [one, names[0], '192.0.2.1/24'],
    [two, names[1], '192.0.2.7/24'],
  ] as const) {
    const inside = (...argv: string[]) =>
      runSuccessfully('nsenter', ['--net', `--target=${pid}`, 'ip', ...argv]);
    await inside('address', 'add', address, 'dev', name);
    await inside('link', 'set', name, 'up');
  }
}

const ip = (...argv: string[]) => runSuccessfully('ip', argv);
