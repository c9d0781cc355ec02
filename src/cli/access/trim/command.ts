import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { AccessNamespaceRules } from '../../../api/index.ts';
import { accessQueryKind } from '../../../api/index.ts';
import type { ApiClient } from '../../../client/index.ts';
import { collectTexts } from '../../flags/values.ts';
import type { CommandContext } from '../../terminal/context.ts';
import { writeNotes, writeResult } from '../../terminal/output.ts';
import type { ServerFlags } from '../query.ts';
import { createQueryCommand, withClient } from '../query.ts';
import { toSubject } from '../question.ts';
import { parseEntry, readLogLines } from './audit-log.ts';
import type { TrimReport } from './format.ts';
import { formatTrimReport } from './format.ts';
import { computeMinimalRules, createManifests } from './roles.ts';
import { compareRights } from './unused.ts';
import type { Subject } from './usage.ts';
import { Usage } from './usage.ts';

interface Flags extends ServerFlags {
  subject: Subject;
  auditLog: string[];
  offline?: boolean;
  name?: string;
  mostNames: number;
}

/** `nodeward access trim --subject SUBJECT --audit-log FILE` */
export function trimCommand(context: CommandContext): Command {
  return createQueryCommand(
    'trim',
    'Compute the smallest roles that allow what a subject did according to the audit log, and list the rights that it did not use. As text the output is YAML for kubectl apply, with comments.',
  )
    .addOption(
      new Option('--subject <subject>', 'a user, Group/NAME or ServiceAccount/NAMESPACE/NAME')
        .argParser(parseSubject)
        .makeOptionMandatory(),
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
    )
    .action(async (flags: Flags) => {
      const report = await trim(flags, context);
      writeNotes(context, report.notes);
      writeResult(context, flags.output, report, () => formatTrimReport(report));
    });
}

function parseSubject(text: string): Subject {
  const [, namespace, account] = /^ServiceAccount\/([^/:]+)\/([^/:]+)$/.exec(text) ?? [];
  if (account !== undefined) return { kind: 'User', name: `system:serviceaccount:${namespace}:${account}` };
  const [, kind, given] = /^(User|Group|ServiceAccount)\/(.*)$/s.exec(text) ?? [];
  const name = kind === undefined ? text : (given ?? '');
  if (name === '' || kind === 'ServiceAccount') {
    throw new InvalidArgumentError('It must be a user, Group/NAME or ServiceAccount/NAMESPACE/NAME.');
  }
  return { kind: kind === 'Group' ? 'Group' : 'User', name };
}

function parseCount(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0 to 999.');
}

async function trim(flags: Flags, context: CommandContext): Promise<TrimReport> {
  const { subject, auditLog, offline = false, name } = flags;
  const usage = new Usage(subject, flags.mostNames);
  const log = await readLog(auditLog, usage, context);
  const rights = offline
    ? undefined
    : await withClient(flags, (client) => fetchRights(client, usage, subject, context));
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
  subject: Subject,
  { signal }: CommandContext,
): Promise<Rights> {
  const isUser = subject.kind === 'User';
  const review = isUser
    ? await toSubject({ as: subject.name, asGroup: [...groups] })
    : { groups: [subject.name] };
  const common = isUser ? await toSubject({ as: subject.name }) : await toSubject({ as: 'anybody' });
  const ask = async (whatCan: { user?: string; groups?: string[] }) => {
    const answer = await client.create(accessQueryKind, { spec: { whatCan } }, { signal });
    return answer.status ?? {};
  };
  const all = await ask(review);
  const everybody = await ask({ groups: common.groups ?? [] });
  return { held: all.namespaces ?? [], common: everybody.namespaces ?? [], errors: all.errors ?? [] };
}
