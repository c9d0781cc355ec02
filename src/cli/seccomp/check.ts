import { Command } from 'commander';
import type { Judgement } from '../../agent/index.ts';
import { describeError, exitCodes } from '../../base/index.ts';
import { harmless } from '../access/report.ts';
import { rendered } from '../checkpoint/index.ts';
import type { CommandContext } from '../context.ts';
import { ReportedError } from '../context.ts';
import { architectureOf, architectureOption } from './architecture-option.ts';
import { inputName, readInput } from './input.ts';
import type { OutputFlags } from './output-option.ts';
import { outputOption } from './output-option.ts';
import { remarkLines } from './remark-lines.ts';

interface Flags extends OutputFlags {
  arch?: string;
}

/** What comes of one file; without a digest it could not be read. */
type Checked = { file: string; valid: boolean } & Omit<Partial<Judgement>, 'profile'>;

/** `nodeward seccomp check FILE…` */
export function checkCommand(context: CommandContext): Command {
  return new Command('check')
    .description('Judge profiles as the agent does; ends with 1 when one of them has errors.')
    .argument('<file...>', 'profiles; - is standard input')
    .addOption(architectureOption('for nodes of this architecture'))
    .addOption(outputOption())
    .action(async (files: string[], flags: Flags) => {
      const { loadJudge, profileLimitBytes } = await import('../../agent/index.ts');
      const judge = await loadJudge(await architectureOf(flags.arch));
      const checked: Checked[] = [];
      for (const file of files) {
        // one byte more than is good, so that the judge tells what is too long
        const bytes = await readInput(file, profileLimitBytes + 1, context).catch(describeError);
        checked.push(typeof bytes === 'string' ? unreadable(file, bytes) : judged(file, judge(bytes)));
      }
      context.stdout.write(await rendered(flags, { files: checked }, () => checked.map(textOf).join('')));
      if (checked.some(({ valid }) => !valid)) throw new ReportedError(exitCodes.failed);
    });
}

function unreadable(file: string, message: string): Checked {
  return { file: inputName(file), valid: false, errors: [{ path: '', message }], warnings: [] };
}

function judged(file: string, { digest, errors, warnings }: Judgement): Checked {
  return { file: inputName(file), valid: errors.length === 0, digest, errors, warnings };
}

function textOf({ file, valid, digest = '', errors, warnings }: Checked): string {
  const name = harmless(file);
  return [
    ...remarkLines(name, 'error', errors),
    ...remarkLines(name, 'warning', warnings),
    valid ? `${name}: valid, ${digest}\n` : '',
  ].join('');
}
