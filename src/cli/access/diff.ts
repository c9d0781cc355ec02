import { Option } from 'commander';
import type { AccessDiff } from '../../api/index.ts';
import { accessDiffKind, apiVersionOf, decodeObject } from '../../api/index.ts';
import { ExitError, exitCodes, tryParseRecord } from '../../base/index.ts';
import type { ApiClient } from '../../client/index.ts';
import type { CommandContext } from '../context.ts';
import { ReportedError } from '../context.ts';
import { asking, namespaceName, note, tell, withOwnCode, withServer } from './asking.ts';
import type { ServerFlags } from './client.ts';
import { shownDiff } from './diff-report.ts';
import { readDocuments } from './documents.ts';

interface Flags extends ServerFlags {
  output: 'text' | 'json' | 'yaml';
  filename: string[];
  namespace?: string;
}

/** `nodeward access diff -f FILE`: exit code 0 nothing changes, 1 something does, more: that cannot be told. */
export function diffCommand(context: CommandContext) {
  return asking(
    'diff',
    'Tell who would gain and who would lose which rights if files of roles and bindings were applied; nothing is. Exit code 0: nothing changes, 1: something does, more: it cannot be told.',
  )
    .addOption(
      new Option('-f, --filename <file>', 'YAML or JSON, - for standard input; may be repeated')
        .argParser((file: string, before: string[] = []) => [...before, file])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('-n, --namespace <name>', 'of what names none (default: "default")').argParser(
        namespaceName,
      ),
    )
    .action(async (flags: Flags) => {
      const changes = await diff(flags, context).catch((error: unknown) => {
        throw withOwnCode(error);
      });
      if (changes) throw new ReportedError(exitCodes.failed);
    });
}

async function diff(flags: Flags, context: CommandContext): Promise<boolean> {
  const { objects, others } = await readDocuments(flags.filename, flags.namespace, context);
  if (others > 0) note(context, [`${others} objects that are no roles or bindings are passed over`]);
  if (objects.length === 0) {
    throw new ExitError(exitCodes.configuration, `no roles or bindings are in ${flags.filename.join(', ')}`);
  }
  const answer = await withServer(flags, (client) => judged(client, objects, context));
  const status = answer.status ?? {};
  note(context, status.errors);
  tell(context, flags, answer, () => shownDiff(status));
  return (status.changes ?? []).length > 0 || status.truncated === true;
}

/** Strictly: a field that nobody knows would be judged as if it were not there. */
async function judged(
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
  throw new ExitError(exitCodes.usage, refusalIn(text) ?? `${client.server} answered ${code}`);
}

function refusalIn(text: string): string | undefined {
  const message = tryParseRecord(text)?.['message'];
  return typeof message === 'string' ? message : undefined;
}
