import { Command, Option } from 'commander';
import type { ApiObject, Kind } from '../../api/index.ts';
import { accessExplanationKind, accessQueryKind } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { collectTexts } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError, withoutExitCode1 } from '../terminal/context.ts';
import { writeNotes, writeResult } from '../terminal/output.ts';
import { diffCommand } from './diff.ts';
import { formatExplanation, formatRights, formatSubjects } from './format.ts';
import type { ServerFlags } from './query.ts';
import { createQueryCommand, parseNamespace, withClient } from './query.ts';
import type { ActionFlags, SubjectFlags } from './question.ts';
import { resolveQuestion, toSubject } from './question.ts';
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
  return addActionArguments(
    createQueryCommand(
      'explain',
      'Explain why a user may do something, or what is missing. Exit code 0: allowed, 1: not allowed, more: it failed.',
    ),
  )
    .addOption(asOption())
    .addOption(asGroupOption())
    .action(async (verb: string, target: string, flags: Flags) => {
      const allowed = await withClient(flags, async (client) => {
        const question = await resolveQuestion(client, context.signal, [verb, target], flags);
        writeNotes(context, question.notes);
        const spec = { ...(await toSubject(flags)), ...question.action };
        const review = await createReview(client, accessExplanationKind, { spec }, context);
        const status = review.status ?? { allowed: false };
        writeNotes(context, status.errors);
        writeResult(context, flags.output, review, () => formatExplanation(status, question.text));
        return status.allowed;
      }).catch((error: unknown) => {
        throw withoutExitCode1(error);
      });
      if (!allowed) throw new ReportedError(exitCodes.failed);
    });
}

function whoCanCommand(context: CommandContext): Command {
  return addActionArguments(
    createQueryCommand('who-can', 'List who may do something, and through which bindings.'),
  ).action(async (verb: string, target: string, flags: Flags) => {
    await withClient(flags, async (client) => {
      const question = await resolveQuestion(client, context.signal, [verb, target], flags);
      writeNotes(context, question.notes);
      const query = { spec: { whoCan: question.action } };
      const review = await createReview(client, accessQueryKind, query, context);
      writeNotes(context, review.status?.errors);
      writeResult(context, flags.output, review, () => formatSubjects(review.status ?? {}, question.text));
    });
  });
}

function whatCanCommand(context: CommandContext): Command {
  return createQueryCommand('what-can', 'List what a user may do, by namespace.')
    .addOption(asOption())
    .addOption(asGroupOption())
    .addOption(
      new Option('-n, --namespace <name>', 'only rights in this namespace or in all').argParser(
        parseNamespace,
      ),
    )
    .action(async (flags: Flags) => {
      await withClient(flags, async (client) => {
        const only = flags.namespace === undefined ? {} : { namespace: flags.namespace };
        const whatCan = { ...(await toSubject(flags)), ...only };
        const review = await createReview(client, accessQueryKind, { spec: { whatCan } }, context);
        const { errors = [], incomplete } = review.status ?? {};
        writeNotes(context, incomplete ? [...errors, 'there may be more than can be listed'] : errors);
        writeResult(context, flags.output, review, () => formatRights(review.status ?? {}));
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

const asOption = () => new Option('--as <user>', 'user whose rights are examined (default: the caller)');
const asGroupOption = () =>
  new Option('--as-group <group>', 'group of the user; may be repeated').argParser(collectTexts);

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
