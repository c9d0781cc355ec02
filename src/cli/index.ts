import { Command, CommanderError } from 'commander';
import { version } from '../api/index.ts';
import { describeError, ExitError, exitCodes } from '../base/index.ts';
import { accessCommand } from './access/command.ts';
import { agentCommand } from './agent.ts';
import { apiServerCommand } from './apiserver.ts';
import { checkpointCommand } from './checkpoint/index.ts';
import { configCommand } from './config.ts';
import type { CommandContext } from './context.ts';
import { ReportedError } from './context.ts';
import { devicesCommand } from './devices.ts';
import { doctorCommand } from './doctor.ts';
import { helpCommand } from './help.ts';
import { pluginsCommand } from './plugins.ts';
import { reloadCommand } from './reload.ts';
import { seccompCommand } from './seccomp/index.ts';
import { storageCommand } from './storage/command.ts';
import { tokenCommand } from './token/command.ts';
import { versionCommand } from './version.ts';

export type { CommandContext } from './context.ts';

/** Runs the command line and gives the exit code (docs/errors.md). Never throws. */
export async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const program = new Command('nodeward')
    .description('A Linux node agent, and a control plane that speaks the Kubernetes API conventions.')
    .version(version.nodeward, '--version', 'print the version')
    .addCommand(accessCommand(context))
    .addCommand(agentCommand(context))
    .addCommand(apiServerCommand(context))
    .addCommand(checkpointCommand(context))
    .addCommand(configCommand(context))
    .addCommand(devicesCommand(context))
    .addCommand(doctorCommand(context))
    .addCommand(pluginsCommand(context))
    .addCommand(reloadCommand(context))
    .addCommand(seccompCommand(context))
    .addCommand(storageCommand(context))
    .addCommand(tokenCommand(context))
    .addCommand(versionCommand(context));
  program.helpCommand(false).addCommand(helpCommand(program));
  const commands = [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)];
  for (const command of commands) {
    command.exitOverride().showHelpAfterError(`(see ${nameOf(command)} --help)`);
    command.configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    return report(error, context);
  }
}

/** With those of the commands that it belongs to. */
function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function report(error: unknown, context: CommandContext): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof ReportedError) return error.exitCode;
  context.stderr.write(`nodeward: ${describeError(error)}\n`);
  return error instanceof ExitError ? error.exitCode : exitCodes.failed;
}
