import type { Command } from 'commander';
import { CommanderError } from 'commander';
import { describeError, ExitError, exitCodes } from '../base/index.ts';
import { createServerProgram } from './build-program.ts';
import { bindOptionalValues } from './optional-values.ts';

import type { CommandContext } from './terminal/context.ts';
import { isJournal, ReportedError } from './terminal/context.ts';

export type { CommandContext } from './terminal/context.ts';

/** Runs the command line and returns the exit code (docs/errors.md). Never throws. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const program = createServerProgram(args[0], context) ?? (await createWholeProgram(context));
  try {
    await program.parseAsync(bindOptionalValues(program, args), { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    return reportError(error, context);
  }
}

async function createWholeProgram(context: CommandContext): Promise<Command> {
  const { createProgram } = await import('./program.ts');
  return createProgram(context);
}

/** Of an entry in systemd's journal. */
const errorPriority = '<3>';

function reportError(error: unknown, context: CommandContext): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof ReportedError) return error.exitCode;
  const priority = isJournal(context.stderr, context.env) ? errorPriority : '';
  context.stderr.write(`${priority}nodeward: ${describeError(error)}\n`);
  return error instanceof ExitError ? error.exitCode : exitCodes.failed;
}
