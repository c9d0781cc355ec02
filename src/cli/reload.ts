import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import type { Reloaded } from '../agent/index.ts';
import type { PlaceFlags } from './flags/common-flags.ts';
import { rootDirOption } from './flags/common-flags.ts';
import { durationParser } from './flags/values.ts';
import type { CommandContext } from './terminal/context.ts';
import type { OutputFlags } from './terminal/output.ts';
import { textOutputOption, writeResult, writeWarnings } from './terminal/output.ts';

interface Flags extends OutputFlags, PlaceFlags {
  /** Milliseconds. */
  timeout: number;
}

/** `nodeward reload` */
export function reloadCommand(context: CommandContext): Command {
  return new Command('reload')
    .description(
      'Have the running agent reload its configuration; waits until it is in force, and fails if it cannot be used.',
    )
    .addOption(rootDirOption())
    .addOption(
      new Option('--timeout <duration>', 'how long the agent may take')
        .default(30_000, '30s')
        .argParser(durationParser('100ms', '1h', '30s')),
    )
    .addOption(textOutputOption())
    .action(async ({ rootDir, timeout: timeoutMs, output, announcePlace }: Flags) => {
      announcePlace?.();
      const { requestReload } = await import('../agent/index.ts');
      const reloaded = await requestReload({ rootDir: resolve(rootDir), timeoutMs, signal: context.signal });
      writeWarnings(context, reloaded.warnings);
      const { applied, pending, warnings } = reloaded;
      writeResult(context, output, {
        document: { applied, pending, warnings },
        names: applied,
        text: () => formatReloaded(reloaded),
      });
    });
}

function formatReloaded({ applied, pending }: Reloaded): string {
  const now = applied.length === 0 ? '' : `counts now: ${applied.join(', ')}\n`;
  const later = pending.length === 0 ? '' : `needs a restart of the agent: ${pending.join(', ')}\n`;
  return now + later || 'loaded again; nothing has changed\n';
}
