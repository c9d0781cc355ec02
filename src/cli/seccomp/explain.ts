import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ApplyingRule, Explanation, Outcome, SeccompProfile } from '../../agent/index.ts';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import { harmless } from '../access/report.ts';
import { rendered } from '../checkpoint/index.ts';
import type { CommandContext } from '../context.ts';
import { rootDirOption } from '../flags/flags.ts';
import { architectureOf, architectureOption } from './architecture-option.ts';
import { inputName, readInput } from './input.ts';
import type { OutputFlags } from './output-option.ts';
import { outputOption } from './output-option.ts';

interface Flags extends OutputFlags {
  arch?: string;
  arg?: ReadonlyMap<number, bigint>;
  rootDir: string;
}

type Describe = (outcome: Outcome) => string;

/** `nodeward seccomp explain PROFILE SYSCALL` */
export function explainCommand(context: CommandContext): Command {
  return new Command('explain')
    .description('Tell what a profile does with a system call, and which of its rules decides.')
    .argument('<profile>', 'a file, or a profile below ROOT-DIR/seccomp; - is standard input')
    .argument('<syscall>', 'name of the call')
    .addOption(architectureOption('on which the call is made'))
    .addOption(
      new Option('--arg <N=VALUE>', 'what an argument is, 0 to 5; may be given repeatedly').argParser(
        argument,
      ),
    )
    .addOption(rootDirOption())
    .addOption(outputOption())
    .action(async (file: string, syscall: string, flags: Flags) => {
      const { describeOutcome, explainCall, loadSyscallTable, nodeArchitecture } = await import(
        '../../agent/index.ts'
      );
      const [syscalls, called] = [await loadSyscallTable(), await architectureOf(flags.arch)];
      if (!syscalls.has(syscall))
        throw new ExitError(exitCodes.usage, `${JSON.stringify(syscall)} is no system call that is known`);
      const profile = await readProfile(file, flags, context);
      const explanation = explainCall(profile, syscall, {
        architecture: nodeArchitecture(),
        ...(called === undefined ? {} : { callArchitecture: called }),
        syscalls,
        ...(flags.arg === undefined ? {} : { args: flags.arg }),
      });
      const people = () => explanationText(explanation, describeOutcome);
      context.stdout.write(await rendered(flags, explanation, people));
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
  throw new ExitError(exitCodes.failed, `${harmless(what)}; see all with nodeward seccomp check`);
}

/** `0=8`, `1=0x7e020000`. */
function argument(text: string, before: ReadonlyMap<number, bigint> = new Map()): Map<number, bigint> {
  const [, index, value] = /^([0-5])=(\d{1,20}|0x[\da-f]{1,16})$/i.exec(text) ?? [];
  if (index === undefined || value === undefined || BigInt(value) >= 1n << 64n)
    throw new InvalidArgumentError('It must be N=VALUE, with N from 0 to 5 and a value of at most 64 bits.');
  return new Map(before).set(Number(index), BigInt(value));
}

/** For people. */
export function explanationText(
  { syscall, architecture, number, decision, rules }: Explanation,
  say: Describe,
): string {
  const call = `${syscall} on ${architecture}${number === undefined ? '' : ` (${number})`}`;
  switch (decision.kind) {
    case 'none':
      return `${call}: that architecture has no such call\n`;
    case 'decided':
      return `${call}: ${say(decision.outcome)}\n${because(decision.by)}${listed(rules, decision.by, say)}`;
    case 'depends':
      return `${call}: it depends on the arguments\n${listed(rules, '', say)}  otherwise: ${say(decision.otherwise)} (defaultAction)\n`;
    case 'undetermined':
      return `${call}: several rules match, and libseccomp chooses one of them\n${listed(decision.among, '', say)}`;
  }
}

function because(by: string): string {
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

/** The rules with conditions, and those that another one overrides. */
function listed(rules: readonly ApplyingRule[], by: string, say: Describe): string {
  const shown = rules.filter(({ path, conditions }) => path !== by || conditions.length > 0);
  return shown.map((rule) => `  ${rule.path}: ${say(rule.outcome)}${when(rule)}\n`).join('');
}

function when({ conditions, matches }: ApplyingRule): string {
  if (conditions.length === 0) return ', overridden';
  const text = conditions.map((set) => set.join(' and ')).join(', or if ');
  const known = matches === undefined ? '' : matches ? ' (so it is)' : ' (not so)';
  return ` if ${text}${known}`;
}
