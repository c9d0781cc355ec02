import { Command } from 'commander';
import { exitCodes } from '../base/index.ts';

/** `nodeward help [COMMAND]`: strict, as every other command is, about what it is asked. */
export function helpCommand(program: Command): Command {
  return new Command('help')
    .description('Print help for a command.')
    .argument('[command]', 'whose help')
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
