import { Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { shownBytes } from '../storage/report.ts';
import { askAgent, itemsOf } from './agent-answer.ts';
import type { AgentFlags } from './agent-connection.ts';
import { connectAgent } from './agent-connection.ts';
import type { OutputFlags } from './output.ts';
import { outputOption, rendered, table } from './output.ts';

interface Flags extends AgentFlags, OutputFlags {
  dryRun?: boolean;
}

/** `nodeward checkpoint prune` */
export function pruneCommand(context: CommandContext): Command {
  return new Command('prune')
    .description('Remove what the limits of retention do not allow, now; without limits nothing goes.')
    .addOption(new Option('--dry-run', 'only show what would go'))
    .addOption(outputOption())
    .action(async (_own: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      await using client = await connectAgent(flags);
      const { signal } = context;
      const path = flags.dryRun ? '/checkpoints?retention=dry-run' : '/checkpoints/prune';
      const outcome = await askAgent(client, { method: flags.dryRun ? 'GET' : 'POST', path, signal });
      context.stdout.write(await rendered(flags, outcome, () => outcomeText(outcome)));
    });
}

function outcomeText(outcome: Record<string, unknown>): string {
  const items = itemsOf(outcome);
  const message = typeof outcome['message'] === 'string' ? `${outcome['message']}\n` : '';
  if (items.length === 0) return `${message}nothing goes\n`;
  const rows = items.map(({ id, bytes, scope, limit }) => [
    shownBytes(Number(bytes)),
    `${String(scope)}.${String(limit)}`,
    String(id),
  ]);
  return `${message}${table([['SIZE', 'LIMIT', outcome['dryRun'] === true ? 'WOULD GO' : 'GONE'], ...rows])}`;
}
