import { Option } from 'commander';
import type { AccessDiff } from '../../api/index.ts';
import { accessDiffKind, apiVersionOf, decodeObject } from '../../api/index.ts';
import { ExitError, exitCodes, tryParseRecord } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import { collectTexts } from '../flags/values.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError, withoutExitCode1 } from '../terminal/context.ts';
import { listOutputOption, writeNotes, writeResult } from '../terminal/output.ts';
import { readDocuments } from './documents.ts';
import { listChanges } from './format.ts';
import type { ServerFlags } from './query.ts';
import { createQueryCommand, parseNamespace, withClient } from './query.ts';
import type { SubjectFlags } from './subject.ts';
import { selectSubjects, subjectOptions } from './subject.ts';

interface Flags extends ServerFlags, SubjectFlags {
  filename: string[];
  namespace?: string;
}

/** `nodeward access diff -f FILE`: exit code 0: nothing changes, 1: something does, more: it failed. */
export function diffCommand(context: CommandContext) {
  const command = createQueryCommand(
    'diff',
    'Show who would gain or lose which rights if files of roles and bindings were applied; they are not. Exit code 0: nothing changes, 1: something does, more: it failed.',
    listOutputOption(),
  )
    .addOption(
      new Option('-f, --filename <file>', 'YAML or JSON, - for standard input; may be repeated')
        .argParser(collectTexts)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '-n, --namespace <name>',
        'namespace of objects that name none (default: "default")',
      ).argParser(parseNamespace),
    );
  for (const option of subjectOptions('only what this user, or its groups, would gain or lose'))
    command.addOption(option);
  return command.action(async (flags: Flags) => {
    const changes = await diff(flags, context).catch((error: unknown) => {
      throw withoutExitCode1(error);
    });
    if (changes) throw new ReportedError(exitCodes.failed);
  });
}

async function diff(flags: Flags, context: CommandContext): Promise<boolean> {
  const { objects, others } = await readDocuments(flags.filename, flags.namespace, context);
  if (others > 0) writeNotes(context, [`${others} objects that are no roles or bindings are passed over`]);
  if (objects.length === 0) {
    throw new ExitError(exitCodes.configuration, `no roles or bindings are in ${flags.filename.join(', ')}`);
  }
  const review = await withClient(flags, (client) => requestDiff(client, objects, context));
  const status = { ...review.status, changes: await selectSubjects(review.status?.changes, flags) };
  writeNotes(context, status.errors);
  writeResult(context, flags.output, listChanges({ ...review, status }));
  return status.changes.length > 0 || status.truncated === true;
}

/** With strict validation: an unknown field would be dropped, and its effect not compared. */
async function requestDiff(
  client: ApiClient,
  objects: readonly Record<string, unknown>[],
  { signal }: CommandContext,
): Promise<AccessDiff> {
  const apiVersion = apiVersionOf(accessDiffKind, '');
  const body = JSON.stringify({ apiVersion, kind: accessDiffKind.kind, spec: { objects } });
  const path = `/apis/${apiVersion}/${accessDiffKind.resource}?fieldValidation=Strict`;
  const { code, body: text } = await client.request({ method: 'POST', path, body, signal });
  if (code === 201) {
    const bytes = Buffer.from(text);
    return decodeObject(accessDiffKind, apiVersion, { encoding: 'json', bytes }).object;
  }
  throw new ExitError(exitCodes.usage, parseMessage(text) ?? `${client.server} answered ${code}`);
}

/** The message of a Status. */
function parseMessage(text: string): string | undefined {
  const message = tryParseRecord(text)?.['message'];
  return typeof message === 'string' ? message : undefined;
}
