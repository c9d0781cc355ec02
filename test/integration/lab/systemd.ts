import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CommandOptions, CommandResult } from '../../support/index.ts';
import { runCommand, runSuccessfully, temporaryFolder } from '../../support/index.ts';
import { fetched, repository } from './folder.ts';

export interface SystemdOptions {
  /**
   * The root folder to boot: Debian's `bookworm` (systemd 252) or `trixie` (257), `machine` for this
   * machine's own, or an absolute path. Default `bookworm`.
   */
  root?: 'bookworm' | 'trixie' | 'machine' | (string & {});
  /** Files to write before the boot, by absolute path: units, configuration. */
  files?: Readonly<Record<string, string>>;
  /** A folder copied over the root before the boot. */
  seed?: string;
  /** Files and folders of this machine, by their path inside. */
  binds?: Readonly<Record<string, string>>;
  readOnlyBinds?: Readonly<Record<string, string>>;
  /** Share this machine's network; default false: a loopback of its own. */
  hostNetwork?: boolean;
}

/** A systemd that runs as PID 1 of its own namespaces. Disposal shuts it down and removes every trace. */
export interface LabMachine extends AsyncDisposable {
  /** Where its state is kept, on this machine. */
  readonly folder: string;
  /** Runs a command inside as root, with a clean environment; whatever its exit code. */
  run(argv: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** The same, but throws when the command fails; returns its standard output. */
  sh(script: string): Promise<string>;
  /** The unit's properties (`systemctl show`). */
  show(unit: string, ...properties: string[]): Promise<Record<string, string>>;
  /** What the unit wrote, as plain lines. */
  journal(unit: string): Promise<string>;
  /** PID 1, as this machine numbers it. */
  pid(): Promise<number>;
  /** A path inside as this machine reaches it, while it runs. */
  hostPath(path: string): Promise<string>;
}

const boot = join(repository, 'scripts/lab/systemd-boot');

/** Boots systemd and resolves when the boot has finished. Needs root. */
export async function bootSystemd(options: SystemdOptions = {}): Promise<LabMachine> {
  if (process.getuid?.() !== 0) throw new Error('booting systemd needs root');
  await using setup = new AsyncDisposableStack();
  const { path: folder } = setup.use(await temporaryFolder('systemd-'));
  // its last part names the machine's cgroup
  const [state, seed] = [join(folder, basename(folder)), join(folder, 'seed')];
  await mkdir(state);
  await writeFiles(seed, options.files ?? {});
  setup.defer(async () => {
    await runSuccessfully(boot, ['down', state]);
  });
  await runSuccessfully(boot, ['up', state, ...bootArguments(options, seed)], { timeoutMs: 60_000 });

  const run: LabMachine['run'] = (argv, command) => runCommand(boot, ['run', state, ...argv], command);
  const output = (...argv: string[]): Promise<string> => runSuccessfully(boot, ['run', state, ...argv]);
  const pid = async (): Promise<number> => Number(await runSuccessfully(boot, ['pid', state]));
  const resources = setup.move();
  return {
    folder,
    run,
    pid,
    sh: (script) => output('sh', '-ec', script),
    show: async (unit, ...properties) => {
      return parseProperties(await output('systemctl', 'show', unit, `--property=${properties.join(',')}`));
    },
    journal: async (unit) => {
      await output('journalctl', '--sync');
      return await output('journalctl', '--unit', unit, '--output', 'cat', '--no-pager', '--quiet');
    },
    hostPath: async (path) => `/proc/${await pid()}/root${path}`,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function bootArguments(options: SystemdOptions, seed: string): string[] {
  const { root = 'bookworm', binds = {}, readOnlyBinds = {} } = options;
  const pairs = (option: string, map: Readonly<Record<string, string>>): string[] =>
    Object.entries(map).flatMap(([inside, outside]) => [option, `${outside}:${inside}`]);
  return [
    '--root',
    rootFolder(root),
    '--seed',
    seed,
    ...(options.seed === undefined ? [] : ['--seed', options.seed]),
    ...pairs('--bind', binds),
    ...pairs('--ro-bind', readOnlyBinds),
    ...(options.hostNetwork === true ? ['--host-network'] : []),
  ];
}

function rootFolder(root: string): string {
  if (root === 'machine') return '/';
  return root.startsWith('/') ? root : fetched(root);
}

async function writeFiles(seed: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(seed);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(seed, path)), { recursive: true });
    await writeFile(join(seed, path), text);
  }
}

/** `Name=value` lines; a value may hold further equals signs. */
function parseProperties(text: string): Record<string, string> {
  const lines = text.trim().split('\n');
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}
