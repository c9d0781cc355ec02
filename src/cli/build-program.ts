import { Command } from 'commander';
import { version } from '../api/index.ts';
import { agentCommand } from './agent.ts';
import { fillPlace } from './agent-client/fill-place.ts';
import { apiServerCommand } from './apiserver.ts';
import type { CommandContext } from './terminal/context.ts';

/**
 * The commands that run for good. They are built without the others, whose code and data such a process would keep
 * for nothing.
 */
const servers: ReadonlyMap<string, (context: CommandContext) => Command> = new Map([
  ['agent', agentCommand],
  ['apiserver', apiServerCommand],
]);

/** A tree with only the command of this name; undefined when it is not one that runs for good. */
export function createServerProgram(name: string | undefined, context: CommandContext): Command | undefined {
  const command = servers.get(name ?? '');
  return command && buildProgram(context, [command], (program) => program.helpCommand(false));
}

/** A tree of these commands; `addFurther` adds what needs the tree itself. */
export function buildProgram(
  context: CommandContext,
  commands: readonly ((context: CommandContext) => Command)[],
  addFurther: (program: Command) => void,
): Command {
  const program = new Command('nodeward')
    .description('A Linux node agent, and a control plane that speaks the Kubernetes API conventions.')
    .version(version.nodeward, '--version', 'print the version');
  for (const command of commands) program.addCommand(command(context));
  program.hook('preAction', (_program, command) => fillPlace(command, context));
  addFurther(program);
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
