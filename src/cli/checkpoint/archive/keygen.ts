import { Command, Option } from 'commander';
import { createKeyPair } from '../../../agent/checkpoint/index.ts';
import type { CommandContext } from '../../context.ts';
import { filePath } from '../../flags/flags.ts';
import { beginWholeFile } from './whole-file.ts';

/** `nodeward checkpoint keygen -o FILE` */
export function keygenCommand(context: CommandContext): Command {
  return new Command('keygen')
    .description(
      'Make a key pair for sealed archives: the secret key goes to a file that only you can read, its recipient is printed.',
    )
    .addOption(
      new Option('-o, --output <file>', 'where the secret key goes; keep it away from the nodes')
        .argParser(filePath)
        .makeOptionMandatory(),
    )
    .action(async (_own: unknown, command: Command) => {
      const { output } = command.optsWithGlobals<{ output: string }>();
      const { identity, recipient } = await createKeyPair();
      await using file = await beginWholeFile(output);
      const created = `# created: ${new Date().toISOString()}`;
      await file.append(Buffer.from(`${created}\n# public key: ${recipient}\n${identity}\n`));
      await file.finish(false);
      context.stdout.write(`${recipient}\n`);
    });
}
