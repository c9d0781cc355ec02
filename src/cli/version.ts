import { Command } from 'commander';
import { version } from '../api/index.ts';
import type { CommandContext } from './context.ts';

/** `nodeward version` */
export function versionCommand(context: CommandContext): Command {
  return new Command('version').description('Print the version.').action(() => {
    context.stdout.write(
      `nodeward ${version.nodeward} (API ${version.gitVersion}, Node.js ${process.version})\n`,
    );
  });
}
