import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Reloaded } from '../agent/index.ts';
import { parseDuration } from '../base/index.ts';
import type { CommandContext } from './context.ts';
import { rootDirOption } from './flags/flags.ts';

interface Flags {
  rootDir: string;
  /** Milliseconds. */
  timeout: number;
}

/** `nodeward reload` */
export function reloadCommand(context: CommandContext): Command {
  return new Command('reload')
    .description(
      'Have the running agent load its configuration again; waits until it counts, and fails when it cannot be used.',
    )
    .addOption(rootDirOption())
    .addOption(
      new Option('--timeout <duration>', 'how long the agent may take')
        .default(30_000, '30s')
        .argParser(timeout),
    )
    .action(async ({ rootDir, timeout: timeoutMs }: Flags) => {
      const { requestReload } = await import('../agent/index.ts');
      const done = await requestReload({ rootDir: resolve(rootDir), timeoutMs, signal: context.signal });
      for (const warning of done.warnings) context.stderr.write(`warning: ${warning}\n`);
      context.stdout.write(reloadText(done));
    });
}

function timeout(text: string): number {
  const ms = Number(parseDuration(text) ?? -1n) / 1e6;
  if (ms >= 100 && ms <= 3600_000) return ms;
  throw new InvalidArgumentError('It must be a duration from 100ms to 1h, such as 30s.');
}

function reloadText({ applied, pending }: Reloaded): string {
  const now = applied.length === 0 ? '' : `counts now: ${applied.join(', ')}\n`;
  const later = pending.length === 0 ? '' : `needs a restart of the agent: ${pending.join(', ')}\n`;
  return now + later || 'loaded again; nothing has changed\n';
}
