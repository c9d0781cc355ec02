import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Migrated, MigrationSource, MigrationTarget, Progress } from '../../apiserver/storage/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { EtcdFlags } from '../flags/etcd-flags.ts';
import { etcdOptions, readEtcdFlags } from '../flags/etcd-flags.ts';
import { parseFilePath } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import { commandLogger } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { textOutputOption, writeResult } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import type { TextResult } from '../terminal/result.ts';
import { formatBytes } from '../terminal/text.ts';
import { accessStorage } from './access.ts';

/** Where a store is. */
export type Place =
  | { readonly kind: 'sqlite'; readonly rootDir: string }
  | { readonly kind: 'etcd'; readonly servers: string[] };

interface Flags extends EtcdFlags, OutputFlags {
  from: Place;
  to: Place;
  kubeconfig?: string;
}

/** `nodeward storage migrate`: from a folder to etcd, or back. */
export function migrateCommand(context: CommandContext): Command {
  const etcd = etcdOptions().filter((option) =>
    /^--etcd-(prefix|cafile|certfile|keyfile)$/.test(option.long ?? ''),
  );
  const command = new Command('migrate')
    .description(
      'Move all objects to another store. Servers keep serving reads; they refuse writes while the last changes are copied.',
    )
    .requiredOption('--from <place>', 'sqlite:ROOTDIR or etcd:URL,URL', parsePlace)
    .requiredOption('--to <place>', 'a place of the other kind, without objects', parsePlace)
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'of the server that uses the store in ROOTDIR (default: admin.kubeconfig there, while it runs)',
      ).argParser(parseFilePath),
    );
  for (const option of etcd) command.addOption(option);
  return command.addOption(textOutputOption()).action(async (flags: Flags) => {
    const moved = await run(flags, context);
    writeResult(context, flags.output, describeMoved(moved, formatNextStep(flags.to, flags.etcdPrefix)));
  });
}

interface Moved {
  readonly report: Migrated;
  /** Without passwords. */
  readonly from: string;
  readonly to: string;
}

/** `next`: what the user must do now. */
export function describeMoved({ report, from, to }: Moved, next: string): TextResult {
  const objects = `${report.objects} objects (${formatBytes(report.bytes)})`;
  return {
    document: { from, to, ...report },
    names: [to],
    text: () => `${objects} moved from ${from} to ${to}, revision ${report.revision}\n${next}`,
  };
}

/** `sqlite:ROOTDIR` or `etcd:URL,URL`. Its servers are checked later, by a message that does not repeat a password in them. */
export function parsePlace(text: string): Place {
  const [, kind, rest = ''] = /^(sqlite|etcd):(.+)$/.exec(text) ?? [];
  if (kind === 'sqlite') return { kind, rootDir: resolve(rest) };
  if (kind === 'etcd') return { kind, servers: [...new Set(rest.split(',').map((server) => server.trim()))] };
  throw new InvalidArgumentError('It must be sqlite:ROOTDIR or etcd:URL,URL.');
}

/** What the user must do next, in one line. `etcdPrefix`: undefined for the default. */
export function formatNextStep(to: Place, etcdPrefix: string | undefined): string {
  const prefix = etcdPrefix === undefined ? '' : ` --etcd-prefix ${etcdPrefix}`;
  const how =
    to.kind === 'etcd'
      ? `--storage etcd --etcd-servers ${to.servers.join(',')}${prefix}`
      : `--root-dir ${to.rootDir}`;
  return `now stop the servers on the old store, which takes no writes any more, and start them with ${how}\n`;
}

async function run(flags: Flags, context: CommandContext): Promise<Moved> {
  const { toOperatorError } = await import('../../apiserver/storage-admin/index.ts');
  const { migrate } = await import('../../apiserver/storage/index.ts');
  using progress = new MigrationProgress(context);
  try {
    await using source = await openSource(flags, context);
    await using target = await openTarget(flags, progress);
    const report = await migrate(source, target, progress);
    return { report, from: source.name, to: target.name };
  } catch (error) {
    throw context.signal.aborted && error === context.signal.reason
      ? interruptedError()
      : toOperatorError(error);
  }
}

async function openSource(flags: Flags, context: CommandContext): Promise<MigrationSource> {
  const { from, kubeconfig } = flags;
  if (from.kind === flags.to.kind) throw usageError('--from and --to must be one sqlite: and one etcd:');
  if (from.kind === 'etcd') {
    if (kubeconfig !== undefined) throw usageError('--kubeconfig is for a store that is moved from sqlite:');
    const { openEtcdSource } = await import('../../apiserver/storage/index.ts');
    const { createValueReader } = await import('../../apiserver/registry/index.ts');
    return await openEtcdSource(toEtcdSettings(from.servers, flags), (suffix) => createValueReader(suffix));
  }
  const { createSqliteSource } = await import('./migrate-source.ts');
  const { signal } = context;
  const log = commandLogger(context, {});
  await using opening = new AsyncDisposableStack();
  const access = opening.use(await accessStorage({ rootDir: from.rootDir, kubeconfig, signal, log }));
  const source = await createSqliteSource(access, `sqlite:${from.rootDir}`);
  opening.move();
  return source;
}

async function openTarget(flags: Flags, progress: Progress): Promise<MigrationTarget> {
  const { to } = flags;
  const { openEtcdTarget, SqliteTarget } = await import('../../apiserver/storage/index.ts');
  if (to.kind === 'etcd') return await openEtcdTarget(toEtcdSettings(to.servers, flags), progress);
  const { storageFolderOf } = await import('../../apiserver/storage-admin/index.ts');
  const folder = storageFolderOf(to.rootDir);
  return new SqliteTarget({ name: `sqlite:${to.rootDir}`, folder, now: () => new Date(), progress });
}

function toEtcdSettings(servers: string[], { etcdPrefix, etcdCafile, etcdCertfile, etcdKeyfile }: Flags) {
  const files = {
    ...(etcdPrefix !== undefined && { etcdPrefix }),
    ...(etcdCafile !== undefined && { etcdCafile }),
    ...(etcdCertfile !== undefined && { etcdCertfile }),
    ...(etcdKeyfile !== undefined && { etcdKeyfile }),
  };
  const etcd = readEtcdFlags({ storage: 'etcd', etcdServers: servers, ...files });
  if (etcd === undefined) throw usageError('no server of etcd is given');
  return etcd;
}

function usageError(message: string): ExitError {
  return new ExitError(exitCodes.usage, message);
}

function interruptedError(): ExitError {
  return new ExitError(exitCodes.failed, 'the migration was interrupted; run it again to go on');
}

/** Shows the progress of a migration on a terminal; throws once the process must stop, which ends the migration. */
class MigrationProgress implements Progress, Disposable {
  readonly #signal: AbortSignal;
  readonly #display: Disposable;
  #step = 'looking at both stores';
  #objects = 0;

  constructor(context: CommandContext) {
    this.#signal = context.signal;
    this.#display = showProgress(context, () => `${this.#step}: ${this.#objects} objects`);
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
    this.#display[Symbol.dispose]();
  }
}
