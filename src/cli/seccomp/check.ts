import { Command } from 'commander';
import type { Judgement } from '../../agent/index.ts';
import { isRecord } from '../../api/index.ts';
import { describeError, exitCodes } from '../../base/index.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError } from '../terminal/context.ts';
import { inputName, readInput } from '../terminal/input.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { textOutputOption, writeResult } from '../terminal/output.ts';
import { sanitize } from '../terminal/text.ts';
import { architectureOption, resolveArchitecture } from './architecture.ts';

interface Flags extends OutputFlags {
  arch?: string;
}

/** The result for one file; without a digest the file could not be read. */
type Checked = { file: string; valid: boolean } & Omit<Partial<Judgement>, 'profile'>;

/** `nodeward seccomp check FILE…` */
export function checkCommand(context: CommandContext): Command {
  return new Command('check')
    .description('Check profiles as the agent does; exit code 1 if one of them has errors.')
    .argument('<file...>', 'profiles; - is standard input')
    .addOption(architectureOption('for nodes of this architecture'))
    .addOption(textOutputOption())
    .action(async (files: string[], flags: Flags) => {
      const { loadJudge, profileLimitBytes } = await import('../../agent/index.ts');
      const judge = await loadJudge(await resolveArchitecture(flags.arch));
      const checked: Checked[] = [];
      for (const file of files) {
        // one byte more than the limit, so that the judge reports a profile that is too long
        const bytes = await readInput(file, profileLimitBytes + 1, context).catch(describeError);
        checked.push(typeof bytes === 'string' ? toUnreadable(file, bytes) : toChecked(file, judge(bytes)));
      }
      writeResult(context, flags.output, {
        document: { files: checked },
        names: checked.filter(({ valid }) => valid).map(({ file }) => file),
        text: () => checked.map(formatChecked).join(''),
      });
      if (checked.some(({ valid }) => !valid)) throw new ReportedError(exitCodes.failed);
    });
}

function toUnreadable(file: string, message: string): Checked {
  return { file: inputName(file), valid: false, errors: [{ path: '', message }], warnings: [] };
}

function toChecked(file: string, { digest, errors, warnings }: Judgement): Checked {
  return { file: inputName(file), valid: errors.length === 0, digest, errors, warnings };
}

function formatChecked({ file, valid, digest = '', errors, warnings }: Checked): string {
  const name = sanitize(file);
  return [
    ...formatRemarks(name, 'error', errors),
    ...formatRemarks(name, 'warning', warnings),
    valid ? `${name}: valid, ${digest}\n` : '',
  ].join('');
}

/** A line for each remark: `a.json: error: syscalls[0].action: …`. */
export function formatRemarks(name: string, severity: 'error' | 'warning', remarks: unknown): string[] {
  const found = Array.isArray(remarks) ? remarks.filter(isRecord) : [];
  return found.map(({ path, message }) => {
    const where = typeof path === 'string' && path !== '' ? `${path}: ` : '';
    return `${sanitize(`${name}: ${severity}: ${where}${String(message)}`)}\n`;
  });
}
