import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { AccessNamespaceRules } from '../../../api/index.ts';
import { accessQueryKind } from '../../../api/index.ts';
import { ExitError, exitCodes } from '../../../base/index.ts';
import type { ApiClient } from '../../../client/index.ts';
import { collectTexts } from '../../flags/values.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { writeNotes, writeResult } from '../../terminal/output.ts';
import { withProgress } from '../../terminal/progress.ts';
import type { ServerFlags } from '../query.ts';
import { createQueryCommand, withClient } from '../query.ts';
import type { Subject, SubjectFlags } from '../subject.ts';
import {
  chooseSubject,
  parseSubject,
  referenceName,
  subjectForms,
  subjectOptions,
  toIdentity,
} from '../subject.ts';
import { parseEntry, readLogLines } from './audit-log.ts';
import type { TrimReport } from './format.ts';
import { formatTrimReport } from './format.ts';
import { computeMinimalRules, createManifests } from './roles.ts';
import { compareRights } from './unused.ts';
import { Usage } from './usage.ts';

interface Flags extends ServerFlags, SubjectFlags {
  auditLog: string[];
  offline?: boolean;
  name?: string;
  mostNames: number;
}

/** `nodeward access trim SUBJECT --audit-log FILE` */
export function trimCommand(context: CommandContext): Command {
  const command = createQueryCommand(
    'trim',
    'Compute the smallest roles that allow what a subject did according to the audit log, and list the rights that it did not use. As text the output is YAML for kubectl apply, with comments.',
  )
    .argument('[subject]', `whose requests are examined: ${subjectForms}`, parseSubject)
    .addOption(
      new Option('--subject <subject>').hideHelp().argParser((): never => {
        throw new InvalidArgumentError('Give the subject as the argument, or with --as.');
      }),
    )
    .addOption(
      new Option(
        '--audit-log <file>',
        'the audit log, with its rotated files; - for standard input; may be repeated',
      )
        .argParser(collectTexts)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--offline', 'send no requests to the server: do not list unused rights'))
    .addOption(new Option('--name <name>', 'name of the roles and bindings (default: trimmed-SUBJECT)'))
    .addOption(
      new Option('--most-names <number>', 'limit a rule to names of objects if it needs at most so many')
        .argParser(parseCount)
        .default(5),
    );
  for (const option of subjectOptions('the same as the argument')) command.addOption(option);
  return command.action(async (argument: Subject | undefined, flags: Flags) => {
    const subject = requireSubject(argument, flags);
    const report = await withProgress(context, 'reading the audit log', () => trim(subject, flags, context));
    writeNotes(context, report.notes);
    writeResult(context, flags.output, {
      document: report,
      names: report.objects.map(nameOf),
      text: () => formatTrimReport(report),
    });
  });
}

/** A group that is given as `--as-group` alone is the subject. */
function requireSubject(argument: Subject | undefined, flags: Flags): Subject {
  const [group] = flags.asGroup ?? [];
  const found =
    chooseSubject(argument, flags) ?? (group === undefined ? undefined : parseSubject(`Group/${group}`));
  if (found !== undefined) return found;
  throw new ExitError(exitCodes.usage, `whose requests are to be examined? Give a subject: ${subjectForms}`);
}

/** `ClusterRole/trimmed-jane` */
function nameOf(object: object): string {
  const { kind, metadata } = Object(object);
  const { namespace, name } = Object(metadata);
  return referenceName({ kind, name, ...(namespace === undefined ? {} : { namespace }) });
}

function parseCount(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0 to 999.');
}

async function trim(subject: Subject, flags: Flags, context: CommandContext): Promise<TrimReport> {
  const { auditLog, offline = false, name } = flags;
  const usage = new Usage(subject, flags.mostNames);
  const log = await readLog(auditLog, usage, context);
  const rights = offline
    ? undefined
    : await withClient(flags, (client) => fetchRights(client, usage, { ...flags, as: subject }, context));
  const authz = await import('../../../apiserver/authz/index.ts');
  const { rules, leftOut } = computeMinimalRules(usage, rights?.common ?? [], authz);
  const compared = rights && compareRights(rights.held, rights.common, usage, authz);
  const notes = [...collectNotes(usage, log), ...(rights?.errors ?? [])];
  if (compared?.isTruncated)
    notes.push('it holds more rights than are compared: not all unused ones are listed');
  return {
    subject: `${subject.kind} ${subject.name}`,
    log,
    use: { requests: usage.requests, refused: usage.refused, first: usage.first, last: usage.last },
    leftOut,
    objects: createManifests(rules, subject, name),
    ...(compared === undefined ? {} : { unused: compared.unused, wider: compared.wider }),
    notes,
  };
}

async function readLog(
  files: readonly string[],
  usage: Usage,
  context: CommandContext,
): Promise<TrimReport['log']> {
  const log = { files: [...files], lines: 0, damaged: 0, first: '', last: '' };
  for await (const line of readLogLines(files, context)) {
    context.signal.throwIfAborted();
    log.lines++;
    const request = line === undefined ? 'damaged' : parseEntry(line);
    if (request === 'damaged') log.damaged++;
    else if (request !== undefined) {
      if (log.first === '' || request.at < log.first) log.first = request.at;
      if (request.at > log.last) log.last = request.at;
      usage.add(request);
    }
  }
  return log;
}

function collectNotes(
  { isTruncated, wroteRights, requests }: Usage,
  { damaged }: TrimReport['log'],
): string[] {
  const notes = [
    'what the audit policy leaves out (level None) is not in the log: rights for it look unused',
  ];
  if (requests === 0) notes.push('the log has nothing that it was allowed to do');
  if (damaged > 0) notes.push(`${damaged} lines are damaged and passed over`);
  if (isTruncated) notes.push('more rights were used than are taken up: the roles do not cover all');
  if (wroteRights) {
    const why =
      'it wrote roles, bindings or approvals: rights that are checked besides (escalate, bind, approve, sign)';
    notes.push(`${why} are not in the log`);
  }
  return notes;
}

interface Rights {
  /** Of the subject. */
  held: readonly AccessNamespaceRules[];
  /** Of everybody in the groups that every such subject is in. */
  common: readonly AccessNamespaceRules[];
  errors: readonly string[];
}

async function fetchRights(
  client: ApiClient,
  { groups }: Usage,
  { as, asGroup = [] }: SubjectFlags & { as: Subject },
  { signal }: CommandContext,
): Promise<Rights> {
  const isUser = as.kind === 'User';
  const review = await toIdentity({ as, asGroup: [...asGroup, ...(isUser ? groups : [])] });
  const common = await toIdentity({ as: isUser ? as : { kind: 'User', name: 'anybody' } });
  const ask = async (whatCan: { user?: string; groups?: string[] }) => {
    const answer = await client.create(accessQueryKind, { spec: { whatCan } }, { signal });
    return answer.status ?? {};
  };
  const all = await ask(review);
  const everybody = await ask({ groups: common.groups ?? [] });
  return { held: all.namespaces ?? [], common: everybody.namespaces ?? [], errors: all.errors ?? [] };
}
