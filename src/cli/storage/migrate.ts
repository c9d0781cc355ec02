import { Command, Option } from 'commander';
import type { Migrated, MigrationSource, MigrationTarget, Progress } from '../../apiserver/storage/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';
import { commandLogger, isTerminal } from '../context.ts';
import type { EtcdFlags } from '../flags/etcd-flags.ts';
import { etcdOf, etcdOptions } from '../flags/etcd-flags.ts';
import { filePath } from '../flags/flags.ts';
import { showProgress } from '../progress.ts';
import { accessStorage } from './access.ts';
import type { Place } from './place.ts';
import { nameOf, place } from './place.ts';
import { shownBytes } from './report.ts';

interface Flags extends EtcdFlags {
  from: Place;
  to: Place;
  kubeconfig?: string;
  output: 'text' | 'json';
}

/** `nodeward storage migrate`: from a folder to etcd, or back. */
export function migrateCommand(context: CommandContext): Command {
  const etcd = etcdOptions().filter((option) =>
    /^--etcd-(prefix|cafile|certfile|keyfile)$/.test(option.long ?? ''),
  );
  const command = new Command('migrate')
    .description(
      'Move all objects to another store; servers go on answering reads, and take no writes while the last of it is copied.',
    )
    .requiredOption('--from <place>', 'sqlite:ROOTDIR or etcd:URL,URL', place)
    .requiredOption('--to <place>', 'the other one of them; it must hold no objects yet', place)
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'of the server that uses the store in ROOTDIR (default: admin.kubeconfig there, while it runs)',
      ).argParser(filePath),
    );
  for (const option of etcd) command.addOption(option);
  return command
    .addOption(
      new Option('-o, --output <form>', 'how the answer is written')
        .choices(['text', 'json'])
        .default('text'),
    )
    .action(async (flags: Flags) => {
      const { report, from, to } = await run(flags, context);
      const text = `${report.objects} objects (${shownBytes(report.bytes)}) moved from ${from} to ${to}, revision ${report.revision}\n${nextStep(flags.to, flags.etcdPrefix)}`;
      context.stdout.write(flags.output === 'json' ? `${JSON.stringify({ from, to, ...report })}\n` : text);
    });
}

/** What is left to be done, in a line. `etcdPrefix`: what was given; undefined: the default. */
export function nextStep(to: Place, etcdPrefix: string | undefined): string {
  const prefix = etcdPrefix === undefined ? '' : ` --etcd-prefix ${etcdPrefix}`;
  const how =
    to.kind === 'etcd'
      ? `--storage etcd --etcd-servers ${to.servers.join(',')}${prefix}`
      : `--root-dir ${to.rootDir}`;
  return `now stop the servers on the old store, which takes no writes any more, and start them with ${how}\n`;
}

async function run(
  flags: Flags,
  context: CommandContext,
): Promise<{ report: Migrated; from: string; to: string }> {
  const { operatorsError } = await import('../../apiserver/storage-admin/index.ts');
  const { migrate } = await import('../../apiserver/storage/index.ts');
  using shown = new ShownProgress(context);
  try {
    await using source = await openSource(flags, context);
    await using target = await openTarget(flags, shown);
    const report = await migrate(source, target, shown);
    return { report, from: source.name, to: target.name };
  } catch (error) {
    throw context.signal.aborted && error === context.signal.reason ? interrupted() : operatorsError(error);
  }
}

async function openSource(flags: Flags, context: CommandContext): Promise<MigrationSource> {
  const { from, kubeconfig } = flags;
  if (from.kind === flags.to.kind) throw misused('--from and --to must be one sqlite: and one etcd:');
  if (from.kind === 'etcd') {
    if (kubeconfig !== undefined) throw misused('--kubeconfig is for a store that is moved from sqlite:');
    const { openEtcdSource } = await import('../../apiserver/storage/index.ts');
    return await openEtcdSource(etcdAt(from.servers, flags));
  }
  const { sqliteSource } = await import('./migrate-source.ts');
  const { signal } = context;
  const log = commandLogger(context, {});
  await using opening = new AsyncDisposableStack();
  const access = opening.use(await accessStorage({ rootDir: from.rootDir, kubeconfig, signal, log }));
  const source = await sqliteSource(access, nameOf(from.rootDir));
  opening.move();
  return source;
}

async function openTarget(flags: Flags, progress: Progress): Promise<MigrationTarget> {
  const { to } = flags;
  const { openEtcdTarget, SqliteTarget } = await import('../../apiserver/storage/index.ts');
  if (to.kind === 'etcd') return await openEtcdTarget(etcdAt(to.servers, flags), progress);
  const { storageFolderOf } = await import('../../apiserver/storage-admin/index.ts');
  const folder = storageFolderOf(to.rootDir);
  return new SqliteTarget({ name: nameOf(to.rootDir), folder, now: () => new Date(), progress });
}

function etcdAt(servers: string[], { etcdPrefix, etcdCafile, etcdCertfile, etcdKeyfile }: Flags) {
  const files = {
    ...(etcdPrefix !== undefined && { etcdPrefix }),
    ...(etcdCafile !== undefined && { etcdCafile }),
    ...(etcdCertfile !== undefined && { etcdCertfile }),
    ...(etcdKeyfile !== undefined && { etcdKeyfile }),
  };
  const etcd = etcdOf({ storage: 'etcd', etcdServers: servers, ...files });
  if (etcd === undefined) throw misused('no server of etcd is given');
  return etcd;
}

function misused(message: string): ExitError {
  return new ExitError(exitCodes.usage, message);
}

function interrupted(): ExitError {
  return new ExitError(exitCodes.failed, 'the migration was interrupted; run it again to go on');
}

/** On a terminal only. Throws out of the copying when the program is told to stop. */
class ShownProgress implements Progress, Disposable {
  readonly #signal: AbortSignal;
  readonly #shown: Disposable | undefined;
  #step = 'looking at both stores';
  #objects = 0;

  constructor({ stderr, signal }: CommandContext) {
    this.#signal = signal;
    if (!isTerminal(stderr)) return;
    this.#shown = showProgress(stderr, () => `${this.#step}: ${this.#objects} objects`);
  }

  step(what: string): void {
    this.#signal.throwIfAborted();
    this.#step = what;
    this.#objects = 0;
  }

  add(objects: number): void {
    this.#signal.throwIfAborted();
    this.#objects += objects;
  }

  [Symbol.dispose](): void {
    this.#shown?.[Symbol.dispose]();
  }
}
