import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import type { AccessNamespaceRules } from '../../../api/index.ts';
import { accessQueryKind } from '../../../api/index.ts';
import type { ApiClient } from '../../../client/index.ts';
import type { CommandContext } from '../../context.ts';
import { asking, note, tell, withServer } from '../asking.ts';
import type { ServerFlags } from '../client.ts';
import { subjectOf } from '../question.ts';
import { requestIn } from './event.ts';
import { heldAgainstUse } from './held.ts';
import { logLines } from './log.ts';
import { manifestsFor } from './manifests.ts';
import type { TrimReport } from './report.ts';
import { shownTrim } from './report.ts';
import { leastRules } from './rules.ts';
import type { Subject } from './use.ts';
import { Use } from './use.ts';

interface Flags extends ServerFlags {
  output: 'text' | 'json' | 'yaml';
  subject: Subject;
  auditLog: string[];
  offline?: boolean;
  name?: string;
  mostNames: number;
}

/** `nodeward access trim --subject SOMEBODY --audit-log FILE`: the least that covers what somebody did. */
export function trimCommand(context: CommandContext): Command {
  return asking(
    'trim',
    'Tell the smallest roles that cover what somebody did by the audit log, and what of their rights they did not use. As text it is YAML for kubectl apply, with comments.',
  )
    .addOption(
      new Option('--subject <somebody>', 'a user, Group/NAME or ServiceAccount/NAMESPACE/NAME')
        .argParser(subjectIn)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--audit-log <file>',
        'with the files that were set aside beside it, - for standard input; may be repeated',
      )
        .argParser((file: string, before: string[] = []) => [...before, file])
        .makeOptionMandatory(),
    )
    .addOption(new Option('--offline', 'ask no server: leave out what the subject holds now'))
    .addOption(new Option('--name <name>', 'of the roles and bindings (default: trimmed-SUBJECT)'))
    .addOption(
      new Option('--most-names <number>', 'list the names of objects where so many, or fewer, were used')
        .argParser(countIn)
        .default(5),
    )
    .action(async (flags: Flags) => {
      const report = await trim(flags, context);
      note(context, report.notes);
      tell(context, flags, report, () => shownTrim(report));
    });
}

function subjectIn(text: string): Subject {
  const [, namespace, account] = /^ServiceAccount\/([^/:]+)\/([^/:]+)$/.exec(text) ?? [];
  if (account !== undefined) return { kind: 'User', name: `system:serviceaccount:${namespace}:${account}` };
  const [, kind, given] = /^(User|Group|ServiceAccount)\/(.*)$/s.exec(text) ?? [];
  const name = kind === undefined ? text : (given ?? '');
  if (name === '' || kind === 'ServiceAccount') {
    throw new InvalidArgumentError('It must be a user, Group/NAME or ServiceAccount/NAMESPACE/NAME.');
  }
  return { kind: kind === 'Group' ? 'Group' : 'User', name };
}

function countIn(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 0 to 999.');
}

async function trim(flags: Flags, context: CommandContext): Promise<TrimReport> {
  const { subject, auditLog, offline = false, name } = flags;
  const use = new Use(subject, flags.mostNames);
  const log = await readLog(auditLog, use, context);
  const held = offline
    ? undefined
    : await withServer(flags, (client) => heldNow(client, use, subject, context));
  const authz = await import('../../../apiserver/authz/index.ts');
  const { places, leftOut } = leastRules(use, held?.common ?? [], authz);
  const against = held && heldAgainstUse(held.held, held.common, use, authz);
  const notes = [...notesOn(use, log), ...(held?.errors ?? [])];
  if (against?.isCut) notes.push('it holds more rights than are compared: not all unused ones are told');
  return {
    subject: `${subject.kind} ${subject.name}`,
    log,
    use: { requests: use.requests, refused: use.refused, first: use.first, last: use.last },
    leftOut,
    objects: manifestsFor(places, subject, name),
    ...(against === undefined ? {} : { unused: against.unused, wider: against.wider }),
    notes,
  };
}

async function readLog(
  files: readonly string[],
  use: Use,
  context: CommandContext,
): Promise<TrimReport['log']> {
  const log = { files: [...files], lines: 0, damaged: 0, first: '', last: '' };
  for await (const line of logLines(files, context)) {
    context.signal.throwIfAborted();
    log.lines++;
    const request = line === undefined ? 'damaged' : requestIn(line);
    if (request === 'damaged') log.damaged++;
    else if (request !== undefined) {
      if (log.first === '' || request.at < log.first) log.first = request.at;
      if (request.at > log.last) log.last = request.at;
      use.add(request);
    }
  }
  return log;
}

function notesOn({ isCut, wroteRights, requests }: Use, { damaged }: TrimReport['log']): string[] {
  const notes = [
    'what the audit policy leaves out (level None) is not in the log: rights for it look unused',
  ];
  if (requests === 0) notes.push('the log has nothing that it was allowed to do');
  if (damaged > 0) notes.push(`${damaged} lines are damaged and passed over`);
  if (isCut) notes.push('more rights were used than are taken up: the roles do not cover all');
  if (wroteRights) {
    const why =
      'it wrote roles, bindings or approvals: rights that are checked besides (escalate, bind, approve, sign)';
    notes.push(`${why} are not in the log`);
  }
  return notes;
}

interface HeldNow {
  held: readonly AccessNamespaceRules[];
  /** What everybody has who is in the groups that the subject is always in. */
  common: readonly AccessNamespaceRules[];
  errors: readonly string[];
}

async function heldNow(
  client: ApiClient,
  { groups }: Use,
  subject: Subject,
  { signal }: CommandContext,
): Promise<HeldNow> {
  const isUser = subject.kind === 'User';
  const whole = isUser
    ? await subjectOf({ as: subject.name, asGroup: [...groups] })
    : { groups: [subject.name] };
  const usual = isUser ? await subjectOf({ as: subject.name }) : await subjectOf({ as: 'anybody' });
  const ask = async (whatCan: { user?: string; groups?: string[] }) => {
    const answer = await client.create(accessQueryKind, { spec: { whatCan } }, { signal });
    return answer.status ?? {};
  };
  const all = await ask(whole);
  const everybodys = await ask({ groups: usual.groups ?? [] });
  return { held: all.namespaces ?? [], common: everybodys.namespaces ?? [], errors: all.errors ?? [] };
}
