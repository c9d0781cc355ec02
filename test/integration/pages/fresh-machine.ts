import { chmod, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CommandResult } from '../../support/index.ts';
import { temporaryFolder, waitFor } from '../../support/index.ts';
import type { LabMachine } from '../lab/index.ts';
import { bootSystemd, fetched, repository } from '../lab/index.ts';
import { cloneOrigin } from './origin.ts';
import { standIns } from './stand-ins.ts';

export type Release = 'bookworm' | 'trixie';
export type Person = 'root' | 'me';

/** The clients of the release's own package. */
const kubectlOf: Readonly<Record<Release, string>> = { bookworm: 'kubectl-1.20', trixie: 'kubectl-1.32' };

const homes: Readonly<Record<Person, string>> = { root: '/root', me: '/home/me' };

/** A command that goes on until it is told to end. */
export interface Foreground {
  output(): Promise<string>;
  /** As Ctrl-C does. Resolves with its exit code when it has ended. */
  interrupt(): Promise<number>;
}

/**
 * A fresh Debian with systemd, named `vm`, where a person has a checkout in ~/nodeward. One shell of that person reads the
 * blocks of one page: what they export, and where they go, counts for the next.
 */
export interface FreshMachine extends AsyncDisposable {
  readonly machine: LabMachine;
  /** Runs a script as root, beside the shell. */
  asRoot(script: string): Promise<CommandResult>;
  /** Another shell, in the checkout. */
  newShell(): Promise<void>;
  /** Runs a script in the shell. It ends at the first command that fails. */
  run(script: string): Promise<CommandResult>;
  /** Starts a script in the shell, and resolves when it has written what matches. */
  start(script: string, until: RegExp): Promise<Foreground>;
}

export interface FreshMachineOptions {
  release: Release;
  person: Person;
  /** As makeOrigin has made it. */
  origin: string;
}

export async function bootFreshMachine(options: FreshMachineOptions): Promise<FreshMachine> {
  const { release, person, origin } = options;
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
      readOnlyBinds: {
        '/opt/own/usr': '/usr',
        '/opt/origin': origin,
        '/opt/packages/node_modules': await realpath(join(repository, 'node_modules')),
        '/opt/packages/package-lock.json': join(repository, 'package-lock.json'),
        '/usr/bin/kubectl': fetched(kubectlOf[release], 'bin/kubectl'),
      },
    }),
  );
  await machine.sh(preparation);
  const resources = stack.move();
  return {
    machine,
    asRoot: (script) =>
      machine.run(['env', '--chdir', checkout, 'bash', '-euo', 'pipefail', '-c', script], {
        timeoutMs: 120_000,
      }),
    ...shellOf(machine, person, checkout),
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

/** An account with the right to use sudo, and what else an installed Debian has. */
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
printf '[safe]\\n\\tdirectory = *\\n' > /etc/gitconfig
`;

function shellOf(
  machine: LabMachine,
  person: Person,
  checkout: string,
): Pick<FreshMachine, 'newShell' | 'run' | 'start'> {
  const state = `/tmp/shell-${person}`;
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
    const output = async () => await readFile(await machine.hostPath(`${state}-output`), 'utf8');
    const inner = [...strict, inShell(script)].map(quote).join(' ');
    const started = await bash(
      '-c',
      `rm -f ${state}-code; set -m; { bash ${inner}; echo $? > ${state}-code; } < /dev/null > ${state}-output 2>&1 & echo $!`,
    );
    const group = started.stdout.trim();
    const ended = async () => (await machine.run(['test', '-e', `${state}-code`])).code === 0;
    await waitFor(`${until} from ${script}`, async () => until.test(await output()) || (await ended()), {
      timeoutMs: 60_000,
    });
    if (!until.test(await output())) throw new Error(`${script} ended before ${until}:\n${await output()}`);
    const interrupt = async () => {
      const wait = `while kill -0 -- -${group}; do sleep 0.05; done; cat ${state}-code || echo 130`;
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
  };
}

function pathOf(person: Person): string {
  const system = person === 'root' ? '/usr/local/sbin:/usr/sbin:/sbin:' : '';
  return `${system}/usr/local/bin:/usr/bin:/bin`;
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
