import { Command, Option } from 'commander';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { PlaceFlags } from '../flags/common-flags.ts';
import { explicitServerOption, rootDirOption } from '../flags/common-flags.ts';
import { parseFilePath } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import { commandLogger } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { listOutputOption, textOutputOption, writeResult } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import type { TextResult } from '../terminal/result.ts';
import { formatBytes } from '../terminal/text.ts';
import type { StorageAccess } from './access.ts';
import { accessStorage } from './access.ts';
import { formatCheck, formatDefrag, listPrefixes } from './format.ts';
import { migrateCommand } from './migrate.ts';
import { saveSnapshot } from './snapshot-file.ts';

interface Flags extends OutputFlags, PlaceFlags {}

/** `nodeward storage …` */
export function storageCommand(context: CommandContext): Command {
  const command = new Command('storage').description('Maintain the store of a control plane.');
  const subcommands = [
    statsCommand,
    checkCommand,
    snapshotCommand,
    restoreCommand,
    defragCommand,
    migrateCommand,
  ];
  for (const subcommand of subcommands) command.addCommand(subcommand(context));
  return command;
}

function statsCommand(context: CommandContext): Command {
  return createStoreCommand(
    'stats',
    'Print the contents of the store by prefix, and its size on disk.',
    listOutputOption(),
  ).action(async (flags: Flags) => {
    const report = await withStorage(flags, context, 'counting', (access) => access.stats());
    const { describeOrigin } = await import('../../apiserver/storage-admin/index.ts');
    writeResult(context, flags.output, listPrefixes(report, describeOrigin(report.origin)));
  });
}

function checkCommand(context: CommandContext): Command {
  return createStoreCommand(
    'check',
    'Compare everything in the store with its checksum; exit code 3 if it is damaged.',
  ).action(async (flags: Flags) => {
    const report = await withStorage(flags, context, 'checking', (access) => access.check());
    writeResult(
      context,
      flags.output,
      aboutFile(report, () => formatCheck(report)),
    );
    if (report.problems.length === 0) return;
    throw new ExitError(
      exitCodes.configuration,
      `the store ${report.file} is damaged; stop the server and restore a snapshot: nodeward storage restore --force FILE`,
    );
  });
}

function snapshotCommand(context: CommandContext): Command {
  return createStoreCommand('snapshot', 'Write all objects, as of one revision, to a new file.')
    .argument('<file>', 'path of the file', parseFilePath)
    .action(async (file: string, flags: Flags) => {
      const { SnapshotReader } = await import('../../apiserver/storage-admin/index.ts');
      const saved = await withStorage(flags, context, 'taking a snapshot', (access) =>
        saveSnapshot(file, access.snapshot(), (chunks, name) => SnapshotReader.open(chunks, name)),
      );
      const size = `${saved.objects} objects, ${formatBytes(saved.bytes)}`;
      const text = `${file}: a snapshot of revision ${saved.revision} (${size})\n`;
      writeResult(
        context,
        flags.output,
        aboutFile(saved, () => text),
      );
    });
}

function defragCommand(context: CommandContext): Command {
  return createStoreCommand('defrag', 'Return unused space of the store to the file system.').action(
    async (flags: Flags) => {
      const report = await withStorage(flags, context, 'returning space', (access) => access.defrag());
      writeResult(
        context,
        flags.output,
        aboutFile(report, () => formatDefrag(report)),
      );
    },
  );
}

type RestoreFlags = OutputFlags & PlaceFlags & { force?: boolean };

function restoreCommand(context: CommandContext): Command {
  return new Command('restore')
    .description('Create the store of a control plane from a snapshot; the control plane must not run.')
    .argument('<file>', 'the snapshot', parseFilePath)
    .addOption(rootDirOption())
    .addOption(new Option('--force', 'rename an existing store and keep it'))
    .addOption(textOutputOption())
    .action(async (file: string, { rootDir, force = false, output, announcePlace }: RestoreFlags) => {
      announcePlace?.();
      const { restoreSnapshot } = await import('../../apiserver/storage-admin/index.ts');
      using _progress = showProgress(context, 'restoring');
      const restored = await restoreSnapshot({ rootDir, file, force, now: new Date() }).catch(explainMissing);
      const { keptAside } = restored;
      const kept = keptAside === undefined ? '' : `\nthe old store is kept as ${keptAside}`;
      const what = `${restored.objects} objects, revision ${restored.revision}`;
      const text = `${restored.file} is restored: ${what}${kept}\n`;
      writeResult(
        context,
        output,
        aboutFile(restored, () => text),
      );
    });
}

function explainMissing(error: unknown): never {
  if (errorCode(error) !== 'ENOENT') throw error;
  const path = error instanceof Error && 'path' in error ? String(error.path) : 'a file';
  throw new ExitError(exitCodes.configuration, `there is no ${path}`);
}

/** A report on a file, which is its name. */
const aboutFile = (report: object & { readonly file: string }, text: () => string): TextResult => ({
  document: report,
  names: [report.file],
  text,
});

/** A command for a store that may be in use by a server. */
function createStoreCommand(name: string, description: string, output = textOutputOption()): Command {
  return new Command(name)
    .description(description)
    .addOption(rootDirOption())
    .addOption(
      explicitServerOption(
        'send requests to the server in this kubeconfig (default: to the one that uses the store in the root dir)',
      ),
    )
    .addOption(output);
}

/** `activity` is shown as the progress. */
async function withStorage<T>(
  { rootDir, kubeconfig, announcePlace }: Flags,
  context: CommandContext,
  activity: string,
  use: (access: StorageAccess) => Promise<T>,
): Promise<T> {
  const { signal } = context;
  announcePlace?.();
  const { toOperatorError } = await import('../../apiserver/storage-admin/index.ts');
  const log = commandLogger(context, {});
  await using access = await accessStorage({ rootDir, kubeconfig, signal, log });
  using _progress = showProgress(context, activity);
  try {
    return await use(access);
  } catch (error) {
    throw toOperatorError(error);
  }
}
