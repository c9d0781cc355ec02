import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { isRecord } from '../../api/index.ts';
import { ExitError, errorCode, exitCodes, systemClock } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { ConnectionError } from '../../client/index.ts';
import { connectAgent } from '../agent-client/connection.ts';
import type { AgentFlags } from '../agent-client/options.ts';
import { requestAgent } from '../agent-client/response.ts';
import { parseFilePath } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { fileOutputOption, writeResult } from '../terminal/output.ts';
import { formatProgressBar, showProgress } from '../terminal/progress.ts';
import { idForms, ofNamespaceOption, parseCheckpointId, pathOf } from './checkpoint-id.ts';
import { findCheckpoint } from './find.ts';
import { PartialFile } from './partial-file.ts';

interface Flags extends AgentFlags, OutputFlags {
  namespace?: string;
  outputFile?: string;
  to?: string;
  force?: boolean;
}

/** `nodeward checkpoint download ID` */
export function downloadCommand(context: CommandContext): Command {
  return new Command('download')
    .description(
      'Download the archive of a checkpoint, verified, into a file that only you can read. A download that was interrupted is resumed.',
    )
    .argument('<id>', idForms, parseCheckpointId)
    .addOption(
      new Option(
        '--output-file <file>',
        'path of the file (default: the name of the archive, in the current folder)',
      ).argParser(parseFilePath),
    )
    .addOption(new Option('--to <file>').argParser(parseFilePath).hideHelp()) // its name in earlier versions
    .addOption(ofNamespaceOption())
    .addOption(fileOutputOption())
    .addOption(new Option('--force', 'replace an existing file'))
    .action(async (reference: string, _own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const id = await findCheckpoint(client, reference, flags.namespace, context.signal);
      const { path: file, bytes, sha256 } = await download(client, id, flags, context);
      writeResult(context, flags.output, {
        document: { id, file, bytes, sha256 },
        names: [file],
        text: () => `${file}\n`,
      });
    });
}

/** In a row, without a byte received. */
const maxFruitlessTries = 5;
const idleMs = 60_000;

async function download(
  client: ApiClient,
  id: string,
  flags: Flags,
  context: CommandContext,
): Promise<{ path: string; bytes: number; sha256: string }> {
  const about = await describe(client, id, context.signal);
  const path = flags.outputFile ?? flags.to ?? parseFilePath(about.name);
  await using file = await PartialFile.open(path, about.sha256 ?? id, about.bytes);
  using _progress = showProgress(context, () => `downloading ${formatProgressBar(file.bytes, about.bytes)}`);
  let fruitless = 0;
  while (file.bytes < about.bytes) {
    const before = file.bytes;
    try {
      await fetchRest(client, id, file, context.signal);
      if (file.bytes === before) throw new ConnectionError('broken', `${client.server} sent nothing`);
    } catch (error) {
      fruitless = file.bytes > before ? 0 : fruitless + 1;
      if (!isRetryable(error) || fruitless >= maxFruitlessTries) throw error;
      await systemClock.sleep(500 * 2 ** fruitless, context.signal);
      context.signal.throwIfAborted();
    }
  }
  await finish(file, about, flags.force ?? false);
  return { path, bytes: file.bytes, sha256: file.sha256() };
}

const isRetryable = (error: unknown): boolean =>
  error instanceof ConnectionError && (error.reason === 'broken' || error.reason === 'timeout');

interface ArchiveInfo {
  /** File name of the archive. */
  readonly name: string;
  readonly bytes: number;
  /** Undefined if the agent does not know it. */
  readonly sha256: string | undefined;
}

async function describe(client: ApiClient, id: string, signal: AbortSignal): Promise<ArchiveInfo> {
  const { bytes, path, record } = await requestAgent(client, { method: 'GET', path: pathOf(id), signal });
  const sha256 = isRecord(record) ? record['sha256'] : undefined;
  if (typeof bytes !== 'number' || typeof path !== 'string')
    throw new ExitError(exitCodes.failed, `the agent at ${client.server} did not report the size of ${id}`);
  return { name: basename(path), bytes, sha256: typeof sha256 === 'string' ? sha256 : undefined };
}

async function fetchRest(
  client: ApiClient,
  id: string,
  file: PartialFile,
  signal: AbortSignal,
): Promise<void> {
  const headers = file.bytes > 0 ? { headers: { range: `bytes=${file.bytes}-` } } : {};
  const request = { method: 'GET', path: pathOf(id, 'archive'), accept: '*/*', ...headers, signal } as const;
  for await (const chunk of client.download(request, idleMs)) await file.append(chunk);
}

async function finish(file: PartialFile, { bytes, sha256 }: ArchiveInfo, replace: boolean): Promise<void> {
  const found = file.sha256();
  if (file.bytes !== bytes || (sha256 !== undefined && found !== sha256)) {
    await file.discard();
    const wanted = `${bytes} bytes with the SHA-256 ${sha256 ?? 'that is not known'}`;
    const message = `what came is not the archive: ${file.bytes} bytes with the SHA-256 ${found}, not ${wanted}; it has been removed. Look at it with: nodeward checkpoint verify`;
    throw new ExitError(exitCodes.failed, message);
  }
  try {
    await file.finish(replace);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    throw new ExitError(exitCodes.usage, `${file.path} is there already; replace it with --force`);
  }
}
