import { Command, Option } from 'commander';
import type { ApiObject, Kind } from '../../api/index.ts';
import { accessExplanationKind, accessQueryKind } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError, withoutExitCode1 } from '../terminal/context.ts';
import { listOutputOption, writeNotes, writeResult } from '../terminal/output.ts';
import { diffCommand } from './diff.ts';
import { formatExplanation, listRights, listSubjects } from './format.ts';
import type { ServerFlags } from './query.ts';
import { createQueryCommand, parseNamespace, withClient } from './query.ts';
import type { ActionFlags } from './question.ts';
import { resolveQuestion } from './question.ts';
import type { Subject, SubjectFlags } from './subject.ts';
import {
  chooseSubject,
  parseSubject,
  referenceName,
  selectSubjects,
  subjectForms,
  subjectOptions,
  toIdentity,
} from './subject.ts';
import { trimCommand } from './trim/command.ts';

type Flags = ServerFlags & ActionFlags & SubjectFlags;

/** `nodeward access …` */
export function accessCommand(context: CommandContext): Command {
  const command = new Command('access').description('Find out who may do what, and why.');
  for (const subcommand of [explainCommand, whoCanCommand, whatCanCommand, diffCommand, trimCommand]) {
    command.addCommand(subcommand(context));
  }
  return command;
}

function explainCommand(context: CommandContext): Command {
  const command = addActionArguments(
    createQueryCommand(
      'explain',
      'Explain why a user may do something, or what is missing. Exit code 0: allowed, 1: not allowed, more: it failed.',
    ),
  );
  for (const option of subjectOptions('whose rights are examined (default: the caller)'))
    command.addOption(option);
  return command.action(async (verb: string, target: string, flags: Flags) => {
    const allowed = await explain([verb, target], flags, context).catch((error: unknown) => {
      throw withoutExitCode1(error);
    });
    if (!allowed) throw new ReportedError(exitCodes.failed);
  });
}

async function explain(
  words: readonly [string, string],
  flags: Flags,
  context: CommandContext,
): Promise<boolean> {
  return await withClient(flags, async (client) => {
    const question = await resolveQuestion(client, context.signal, words, flags);
    writeNotes(context, question.notes);
    const spec = { ...(await toIdentity(flags)), ...question.action };
    const review = await createReview(client, accessExplanationKind, { spec }, context);
    const status = review.status ?? { allowed: false };
    writeNotes(context, status.errors);
    writeResult(context, flags.output, {
      document: review,
      names: (status.grants ?? []).map(({ binding }) => referenceName(binding)),
      text: (paint) => formatExplanation(status, question.text, paint),
    });
    return status.allowed;
  });
}

function whoCanCommand(context: CommandContext): Command {
  const command = addActionArguments(
    createQueryCommand(
      'who-can',
      'List who may do something, and through which bindings.',
      listOutputOption(),
    ),
  );
  for (const option of subjectOptions('only those that this user is, or is a member of'))
    command.addOption(option);
  return command.action(async (verb: string, target: string, flags: Flags) => {
    await withClient(flags, async (client) => {
      const question = await resolveQuestion(client, context.signal, [verb, target], flags);
      writeNotes(context, question.notes);
      const query = { spec: { whoCan: question.action } };
      const review = await createReview(client, accessQueryKind, query, context);
      writeNotes(context, review.status?.errors);
      const status = { ...review.status, subjects: await selectSubjects(review.status?.subjects, flags) };
      writeResult(context, flags.output, listSubjects({ ...review, status }, question.text));
    });
  });
}

function whatCanCommand(context: CommandContext): Command {
  const command = createQueryCommand('what-can', 'List what a user may do, by namespace.', listOutputOption())
    .argument('[subject]', `whose rights are listed (default: the caller's): ${subjectForms}`, parseSubject)
    .addOption(
      new Option('-n, --namespace <name>', 'only rights in this namespace or in all').argParser(
        parseNamespace,
      ),
    );
  for (const option of subjectOptions('the same as the argument')) command.addOption(option);
  return command.action(async (subject: Subject | undefined, flags: Flags) => {
    const as = chooseSubject(subject, flags);
    const identity = await toIdentity({ ...flags, ...(as === undefined ? {} : { as }) });
    await withClient(flags, async (client) => {
      const only = flags.namespace === undefined ? {} : { namespace: flags.namespace };
      const whatCan = { ...identity, ...only };
      const review = await createReview(client, accessQueryKind, { spec: { whatCan } }, context);
      const { errors = [], incomplete } = review.status ?? {};
      writeNotes(context, incomplete ? [...errors, 'there may be more than can be listed'] : errors);
      writeResult(context, flags.output, listRights(review));
    });
  });
}

function addActionArguments(command: Command): Command {
  return command
    .argument('<verb>', 'get, list, create, …; * means all')
    .argument('<resource[/name]>', 'pods, po/web, deployments.apps, or a path: /metrics')
    .addOption(
      new Option('-n, --namespace <name>', 'namespace of the resource (default: all)').argParser(
        parseNamespace,
      ),
    )
    .addOption(new Option('--subresource <name>', 'log, status, …'));
}

async function createReview<T extends ApiObject & { status?: object }>(
  client: ApiClient,
  kind: Kind<T>,
  question: T,
  { signal }: CommandContext,
): Promise<T> {
  const review = await client.create(kind, question, { signal });
  if (review.status !== undefined) return review;
  throw new ExitError(exitCodes.failed, `${client.server} sent no answer to the ${kind.kind}`);
}
