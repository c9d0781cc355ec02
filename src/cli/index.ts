import { CommanderError } from 'commander';
import { describeError, ExitError, exitCodes } from '../base/index.ts';
import { bindOptionalValues } from './optional-values.ts';
import { createProgram } from './program.ts';
import type { CommandContext } from './terminal/context.ts';
import { isJournal, ReportedError } from './terminal/context.ts';

export type { CommandContext } from './terminal/context.ts';

/** Runs the command line and returns the exit code (docs/errors.md). Never throws. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const program = createProgram(context);
  try {
    await program.parseAsync(bindOptionalValues(program, args), { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    return reportError(error, context);
  }
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
