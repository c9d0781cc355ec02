import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ApplyingRule, Explanation, Outcome, SeccompProfile } from '../../agent/index.ts';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import { rootDirOption } from '../flags/common-flags.ts';
import type { CommandContext } from '../terminal/context.ts';
import { inputName, readInput } from '../terminal/input.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { textOutputOption, writeResult } from '../terminal/output.ts';
import { sanitize } from '../terminal/text.ts';
import { architectureOption, resolveArchitecture } from './architecture.ts';

interface Flags extends OutputFlags {
  arch?: string;
  arg?: ReadonlyMap<number, bigint>;
  rootDir: string;
}

type DescribeOutcome = (outcome: Outcome) => string;

/** `nodeward seccomp explain PROFILE SYSCALL` */
export function explainCommand(context: CommandContext): Command {
  return new Command('explain')
    .description('Explain what a profile does with a system call, and which of its rules decides.')
    .argument('<profile>', 'a file, or a profile below ROOT-DIR/seccomp; - is standard input')
    .argument('<syscall>', 'name of the system call')
    .addOption(architectureOption('architecture of the call'))
    .addOption(
      new Option('--arg <N=VALUE>', 'value of an argument, 0 to 5; may be repeated').argParser(parseArgument),
    )
    .addOption(rootDirOption())
    .addOption(textOutputOption())
    .action(async (file: string, syscall: string, flags: Flags) => {
      const { describeOutcome, explainCall, loadSyscallTable, nodeArchitecture } = await import(
        '../../agent/index.ts'
      );
      const [syscalls, called] = [await loadSyscallTable(), await resolveArchitecture(flags.arch)];
      if (!syscalls.has(syscall))
        throw new ExitError(exitCodes.usage, `${JSON.stringify(syscall)} is no system call that is known`);
      const profile = await readProfile(file, flags, context);
      const explanation = explainCall(profile, syscall, {
        architecture: nodeArchitecture(),
        ...(called === undefined ? {} : { callArchitecture: called }),
        syscalls,
        ...(flags.arg === undefined ? {} : { args: flags.arg }),
      });
      writeResult(context, flags.output, {
        document: explanation,
        names: [explanation.syscall],
        text: () => formatExplanation(explanation, describeOutcome),
      });
    });
}

async function readProfile(
  file: string,
  { rootDir }: Flags,
  context: CommandContext,
): Promise<SeccompProfile> {
  const { loadJudge, profileLimitBytes } = await import('../../agent/index.ts');
  const judge = await loadJudge();
  const bytes = await readInput(file, profileLimitBytes, context).catch(async (error: unknown) => {
    if (errorCode(error) !== 'ENOENT' || file.startsWith('/')) throw error;
    return await readInput(join(resolve(rootDir), 'seccomp', file), profileLimitBytes, context);
  });
  const { profile, errors } = judge(bytes);
  if (profile !== undefined) return profile;
  const [first] = errors;
  const where = first?.path ? `${first.path}: ` : '';
  const what = `${inputName(file)} is not valid: ${where}${first?.message}`;
  throw new ExitError(exitCodes.failed, `${sanitize(what)}; see all with nodeward seccomp check`);
}

/** `0=8`, `1=0x7e020000`. */
function parseArgument(text: string, before: ReadonlyMap<number, bigint> = new Map()): Map<number, bigint> {
  const [, index, value] = /^([0-5])=(\d{1,20}|0x[\da-f]{1,16})$/i.exec(text) ?? [];
  if (index === undefined || value === undefined || BigInt(value) >= 1n << 64n)
    throw new InvalidArgumentError('It must be N=VALUE, with N from 0 to 5 and a value of at most 64 bits.');
  return new Map(before).set(Number(index), BigInt(value));
}

function formatExplanation(
  { syscall, architecture, number, decision, rules }: Explanation,
  describe: DescribeOutcome,
): string {
  const call = `${syscall} on ${architecture}${number === undefined ? '' : ` (${number})`}`;
  switch (decision.kind) {
    case 'none':
      return `${call}: that architecture has no such call\n`;
    case 'decided':
      return `${call}: ${describe(decision.outcome)}\n${formatReason(decision.by)}${formatRules(rules, decision.by, describe)}`;
    case 'depends':
      return `${call}: it depends on the arguments\n${formatRules(rules, '', describe)}  otherwise: ${describe(decision.otherwise)} (defaultAction)\n`;
    case 'undetermined':
      return `${call}: several rules match, and libseccomp chooses one of them\n${formatRules(decision.among, '', describe)}`;
  }
}

function formatReason(by: string): string {
  switch (by) {
    case 'default':
      return '  by defaultAction: no rule matches\n';
    case 'architecture':
      return '  because neither the node nor `architectures` has that architecture\n';
    case 'newer':
      return '  by runc: the call is newer than all that the profile names\n';
    default:
      return `  by ${by}\n`;
  }
}

/** The rules with conditions, and those that the deciding one (at the path `by`) overrides. */
function formatRules(rules: readonly ApplyingRule[], by: string, describe: DescribeOutcome): string {
  const relevant = rules.filter(({ path, conditions }) => path !== by || conditions.length > 0);
  return relevant
    .map((rule) => `  ${rule.path}: ${describe(rule.outcome)}${formatConditions(rule)}\n`)
    .join('');
}

function formatConditions({ conditions, matches }: ApplyingRule): string {
  if (conditions.length === 0) return ', overridden';
  const text = conditions.map((set) => set.join(' and ')).join(', or if ');
  const known = matches === undefined ? '' : matches ? ' (so it is)' : ' (not so)';
  return ` if ${text}${known}`;
}
