import { Command } from 'commander';
import { exitCodes } from '../base/index.ts';
import { accessCommand } from './access/command.ts';
import { agentCommand } from './agent.ts';
import { apiServerCommand } from './apiserver.ts';
import { buildProgram } from './build-program.ts';
import { checkpointCommand } from './checkpoint/command.ts';
import { configCommand } from './config.ts';
import { devicesCommand } from './devices.ts';
import { doctorCommand } from './doctor.ts';
import { historyCommand } from './history.ts';
import { joinCommand } from './join/command.ts';
import { pluginsCommand } from './plugins.ts';
import { podsCommand } from './pods/command.ts';
import { completionCommand } from './reference/index.ts';
import { reloadCommand } from './reload.ts';
import { seccompCommand } from './seccomp/command.ts';
import { statusCommand } from './status/command.ts';
import { storageCommand } from './storage/command.ts';
import type { CommandContext } from './terminal/context.ts';
import { tokenCommand } from './token/command.ts';
import { topCommand } from './top/command.ts';
import { versionCommand } from './version.ts';

const commands: readonly ((context: CommandContext) => Command)[] = [
  accessCommand,
  agentCommand,
  apiServerCommand,
  checkpointCommand,
  configCommand,
  devicesCommand,
  doctorCommand,
  historyCommand,
  joinCommand,
  pluginsCommand,
  podsCommand,
  reloadCommand,
  seccompCommand,
  statusCommand,
  storageCommand,
  tokenCommand,
  topCommand,
  versionCommand,
];

/** The tree of all commands. */
export function createProgram(context: CommandContext): Command {
  return buildProgram(context, commands, (program) => {
    program.addCommand(completionCommand(program, context));
    program.helpCommand(false).addCommand(helpCommand(program));
  });
}

/** `nodeward help [COMMAND]`. Unlike the one of commander it refuses further arguments. */
function helpCommand(program: Command): Command {
  return new Command('help')
    .description('Print help for a command.')
    .argument('[command]', 'the command')
    .action((name: string | undefined) => {
      if (name === undefined) program.help();
      const found = program.commands.find((command) => command.name() === name);
      found?.help();
      program.error(`error: unknown command '${name}'`, {
        exitCode: exitCodes.usage,
        code: 'commander.unknownCommand',
      });
    });
}
