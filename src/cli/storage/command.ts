import { Command, Option } from 'commander';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../context.ts';
import { commandLogger, isTerminal } from '../context.ts';
import { filePath, rootDirOption } from '../flags/flags.ts';
import { showProgress } from '../progress.ts';
import type { StorageAccess } from './access.ts';
import { accessStorage } from './access.ts';
import { saveSnapshot } from './file.ts';
import { migrateCommand } from './migrate.ts';
import { shownBytes, shownCheck, shownDefrag, shownStats } from './report.ts';

interface Flags {
  rootDir: string;
  kubeconfig?: string;
  output: 'text' | 'json';
}

/** `nodeward storage …`: looks after the store, through the server that uses it or in its folder when none does. */
export function storageCommand(context: CommandContext): Command {
  const command = new Command('storage').description('Look after the store of a control plane.');
  for (const part of [stats, check, snapshot, restore, defrag, migrateCommand])
    command.addCommand(part(context));
  return command;
}

function stats(context: CommandContext): Command {
  return reaching('stats', 'Print what the store holds, by prefix, and what it takes on disk.').action(
    async (flags: Flags) => {
      const report = await through(flags, context, 'counting', (access) => access.stats());
      const { toldOrigin } = await import('../../apiserver/storage-admin/index.ts');
      tell(context, flags, report, shownStats(report, toldOrigin(report.origin)));
    },
  );
}

function check(context: CommandContext): Command {
  return reaching(
    'check',
    'Compare everything that is stored with its checksum; exit code 3: it is damaged.',
  ).action(async (flags: Flags) => {
    const report = await through(flags, context, 'checking', (access) => access.check());
    tell(context, flags, report, shownCheck(report));
    if (report.problems.length === 0) return;
    throw new ExitError(
      exitCodes.configuration,
      `the store ${report.file} is damaged; stop the server and restore a snapshot: nodeward storage restore --force FILE`,
    );
  });
}

function snapshot(context: CommandContext): Command {
  return reaching('snapshot', 'Write all objects, as of one revision, to a file that does not exist yet.')
    .argument('<file>', 'where to', filePath)
    .action(async (file: string, flags: Flags) => {
      const { SnapshotReader } = await import('../../apiserver/storage-admin/index.ts');
      const saved = await through(flags, context, 'taking a snapshot', (access) =>
        saveSnapshot(file, access.snapshot(), (chunks, name) => SnapshotReader.open(chunks, name)),
      );
      const size = `${saved.objects} objects, ${shownBytes(saved.bytes)}`;
      tell(context, flags, saved, `${file}: a snapshot of revision ${saved.revision} (${size})\n`);
    });
}

function defrag(context: CommandContext): Command {
  return reaching('defrag', 'Give room that the store does not need back to the disk.').action(
    async (flags: Flags) => {
      const report = await through(flags, context, 'giving room back', (access) => access.defrag());
      tell(context, flags, report, shownDefrag(report));
    },
  );
}

function restore(context: CommandContext): Command {
  return new Command('restore')
    .description('Make the store of a control plane that does not run from a snapshot.')
    .argument('<file>', 'the snapshot', filePath)
    .addOption(rootDirOption())
    .addOption(new Option('--force', 'keep a store that is there aside, under another name'))
    .addOption(outputOption())
    .action(async (file: string, flags: Flags & { force?: boolean }) => {
      const { restoreSnapshot } = await import('../../apiserver/storage-admin/index.ts');
      const { rootDir, force = false } = flags;
      using _progress = progress(context, 'restoring');
      const restored = await restoreSnapshot({ rootDir, file, force, now: new Date() }).catch(missing);
      const aside =
        restored.keptAside === undefined ? '' : `\nthe old store is kept as ${restored.keptAside}`;
      const what = `${restored.objects} objects, revision ${restored.revision}`;
      tell(context, flags, restored, `${restored.file} is restored: ${what}${aside}\n`);
    });
}

function missing(error: unknown): never {
  if (errorCode(error) !== 'ENOENT') throw error;
  const path = error instanceof Error && 'path' in error ? String(error.path) : 'a file';
  throw new ExitError(exitCodes.configuration, `there is no ${path}`);
}

/** A command for a store that a server may be using. */
function reaching(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(rootDirOption())
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'ask the server that this kubeconfig names (default: the one that uses the store in the root dir)',
      ).argParser(filePath),
    )
    .addOption(outputOption());
}

const outputOption = () =>
  new Option('-o, --output <form>', 'how the answer is written').choices(['text', 'json']).default('text');

async function through<T>(
  { rootDir, kubeconfig }: Flags,
  context: CommandContext,
  what: string,
  work: (access: StorageAccess) => Promise<T>,
): Promise<T> {
  const { signal } = context;
  const { operatorsError } = await import('../../apiserver/storage-admin/index.ts');
  const log = commandLogger(context, {});
  await using access = await accessStorage({ rootDir, kubeconfig, signal, log });
  using _progress = progress(context, what);
  try {
    return await work(access);
  } catch (error) {
    throw operatorsError(error);
  }
}

function progress(context: CommandContext, what: string): Disposable | undefined {
  return isTerminal(context.stderr) ? showProgress(context.stderr, what) : undefined;
}

function tell(context: CommandContext, { output }: Flags, report: object, text: string): void {
  context.stdout.write(output === 'json' ? `${JSON.stringify(report)}\n` : text);
}
