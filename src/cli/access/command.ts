import { Command, Option } from 'commander';
import type { ApiObject, Kind } from '../../api/index.ts';
import { accessExplanationKind, accessQueryKind } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import type { CommandContext } from '../context.ts';
import { ReportedError } from '../context.ts';
import { asking, namespaceName, note, tell, withOwnCode, withServer } from './asking.ts';
import type { ServerFlags } from './client.ts';
import { diffCommand } from './diff.ts';
import type { ActionFlags, SubjectFlags } from './question.ts';
import { questionIn, subjectOf } from './question.ts';
import { shownExplanation, shownHolders, shownRights } from './report.ts';
import { trimCommand } from './trim/trim.ts';

interface Flags extends ServerFlags, ActionFlags, SubjectFlags {
  output: 'text' | 'json' | 'yaml';
}

/** `nodeward access …`: why somebody may do something or not, who may do it, what somebody may do, and what a change does. */
export function accessCommand(context: CommandContext): Command {
  const command = new Command('access').description('Ask who may do what, and why.');
  for (const part of [explainCommand, whoCanCommand, whatCanCommand, diffCommand, trimCommand]) {
    command.addCommand(part(context));
  }
  return command;
}

function explainCommand(context: CommandContext): Command {
  return aboutAction(
    asking(
      'explain',
      'Tell why somebody may do something, or what is missing. Exit code 0: they may, 1: they may not, more: it cannot be told.',
    ),
  )
    .addOption(asOption())
    .addOption(asGroupOption())
    .action(async (verb: string, target: string, flags: Flags) => {
      const allowed = await withServer(flags, async (client) => {
        const question = await questionIn(client, context.signal, [verb, target], flags);
        note(context, question.notes);
        const spec = { ...(await subjectOf(flags)), ...question.action };
        const answer = await ask(client, accessExplanationKind, { spec }, context);
        const status = answer.status ?? { allowed: false };
        note(context, status.errors);
        tell(context, flags, answer, () => shownExplanation(status, question.text));
        return status.allowed;
      }).catch((error: unknown) => {
        throw withOwnCode(error);
      });
      if (!allowed) throw new ReportedError(exitCodes.failed);
    });
}

function whoCanCommand(context: CommandContext): Command {
  return aboutAction(asking('who-can', 'Tell who may do something, and through which bindings.')).action(
    async (verb: string, target: string, flags: Flags) => {
      await withServer(flags, async (client) => {
        const question = await questionIn(client, context.signal, [verb, target], flags);
        note(context, question.notes);
        const query = { spec: { whoCan: question.action } };
        const answer = await ask(client, accessQueryKind, query, context);
        note(context, answer.status?.errors);
        tell(context, flags, answer, () => shownHolders(answer.status ?? {}, question.text));
      });
    },
  );
}

function whatCanCommand(context: CommandContext): Command {
  return asking('what-can', 'Tell what somebody may do, by namespace.')
    .addOption(asOption())
    .addOption(asGroupOption())
    .addOption(
      new Option('-n, --namespace <name>', 'only this one, and what counts everywhere').argParser(
        namespaceName,
      ),
    )
    .action(async (flags: Flags) => {
      await withServer(flags, async (client) => {
        const only = flags.namespace === undefined ? {} : { namespace: flags.namespace };
        const whatCan = { ...(await subjectOf(flags)), ...only };
        const answer = await ask(client, accessQueryKind, { spec: { whatCan } }, context);
        const { errors = [], incomplete } = answer.status ?? {};
        note(context, incomplete ? [...errors, 'there may be more than can be listed'] : errors);
        tell(context, flags, answer, () => shownRights(answer.status ?? {}));
      });
    });
}

function aboutAction(command: Command): Command {
  return command
    .argument('<verb>', 'get, list, create, …; * means all')
    .argument('<resource[/name]>', 'what it is done to: pods, po/web, deployments.apps, or a path: /metrics')
    .addOption(
      new Option('-n, --namespace <name>', 'where (default: in all namespaces)').argParser(namespaceName),
    )
    .addOption(new Option('--subresource <name>', 'a part of the resource: log, status, …'));
}

const asOption = () => new Option('--as <user>', 'whom the question is about (default: whoever asks)');
const asGroupOption = () =>
  new Option('--as-group <group>', 'a group that they are in; may be repeated').argParser(
    (group: string, before: string[] = []) => [...before, group],
  );

async function ask<T extends ApiObject & { status?: object }>(
  client: ApiClient,
  kind: Kind<T>,
  question: T,
  { signal }: CommandContext,
): Promise<T> {
  const answer = await client.create(kind, question, { signal });
  if (answer.status !== undefined) return answer;
  throw new ExitError(exitCodes.failed, `${client.server} sent no answer to the ${kind.kind}`);
}
