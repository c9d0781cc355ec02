import { Command } from 'commander';
import { version } from '../api/index.ts';
import { exitCodes } from '../base/index.ts';
import { accessCommand } from './access/command.ts';
import { agentCommand } from './agent.ts';
import { fillPlace } from './agent-client/fill-place.ts';
import { apiServerCommand } from './apiserver.ts';
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
  versionCommand,
];

/** The tree of all commands. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('nodeward')
    .description('A Linux node agent, and a control plane that speaks the Kubernetes API conventions.')
    .version(version.nodeward, '--version', 'print the version');
  for (const command of commands) program.addCommand(command(context));
  program.hook('preAction', (_program, command) => fillPlace(command, context));
  program.addCommand(completionCommand(program, context));
  program.helpCommand(false).addCommand(helpCommand(program));
  const all = [program, ...program.commands, ...program.commands.flatMap((command) => command.commands)];
  for (const command of all) {
    command.exitOverride().showHelpAfterError(`(see ${fullNameOf(command)} --help)`);
    command.configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
    });
  }
  return program;
}

/** `nodeward checkpoint ls` */
function fullNameOf(command: Command): string {
  return command.parent === null ? command.name() : `${fullNameOf(command.parent)} ${command.name()}`;
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
