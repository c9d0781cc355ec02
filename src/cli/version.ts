import { Command } from 'commander';
import { version } from '../api/index.ts';
import { readBuild } from '../base/index.ts';
import type { CommandContext } from './terminal/context.ts';
import type { OutputFlags } from './terminal/output.ts';
import { textOutputOption, writeResult } from './terminal/output.ts';

/** `nodeward version` */
export function versionCommand(context: CommandContext): Command {
  return new Command('version')
    .description('Print the version, and the commit that the program was made from.')
    .addOption(textOutputOption())
    .action(({ output }: OutputFlags) => {
      const { commit, date } = readBuild();
      const { nodeward, gitVersion } = version;
      const node = process.version;
      writeResult(context, output, {
        document: { version: nodeward, commit, date, api: gitVersion, node },
        names: [nodeward],
        text: () =>
          `nodeward ${nodeward} (commit ${commit.slice(0, 12)} of ${date}, API ${gitVersion}, Node.js ${node})\n`,
      });
    });
}
