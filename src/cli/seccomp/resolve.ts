import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { ContainerRefusal, ResolvedSeccomp } from '../../agent/index.ts';
import type { Pod } from '../../api/index.ts';
import {
  DecodeError,
  decodeValue,
  isRecord,
  JsonError,
  loadYamlReader,
  parseJson,
  podKind,
  YamlError,
} from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { findExaminedAgent } from '../agent-client/examined-agent.ts';
import type { PlaceFlags } from '../flags/common-flags.ts';
import { rootDirOption } from '../flags/common-flags.ts';
import type { ConfigFlags } from '../flags/config-flags.ts';
import { configFileOptions, seccompDefaultOption } from '../flags/config-flags.ts';
import type { CommandContext } from '../terminal/context.ts';
import { ReportedError } from '../terminal/context.ts';
import { inputName, readInput } from '../terminal/input.ts';
import type { OutputFlags } from '../terminal/output.ts';
import {
  isForPeople,
  listOutputOption,
  writeRemark,
  writeResult,
  writeWarnings,
} from '../terminal/output.ts';
import type { TableResult } from '../terminal/result.ts';
import { sanitize } from '../terminal/text.ts';

interface Flags extends OutputFlags, ConfigFlags, PlaceFlags {}

/** The profile of a container, or why it cannot be created. */
interface Row {
  pod: string;
  container: string;
  type: string;
  /** `container`, `pod`, `default` or `privileged`. */
  from?: string;
  file?: string;
  digest?: string;
  reason?: string;
  message?: string;
  warnings?: readonly string[];
}

/** `nodeward seccomp resolve POD.yaml` */
export function resolveCommand(context: CommandContext): Command {
  const command = new Command('resolve')
    .description(
      'Show which seccomp profile each container of a pod gets on this node; exit code 1 if one cannot be created.',
    )
    .argument('<pod>', 'file with one or several pods, YAML or JSON; - is standard input')
    .addOption(rootDirOption())
    .addOption(seccompDefaultOption());
  for (const option of configFileOptions()) command.addOption(option);
  return command.addOption(listOutputOption()).action(async (file: string, flags: Flags) => {
    const pods = await readPods(file, context);
    const { containersOf, loadConfig } = await import('../../agent/index.ts');
    const { sources, described } = await findExaminedAgent(flags, context);
    if (isForPeople(flags.output)) writeRemark(context, `looking at ${described}`);
    const { config } = await loadConfig(sources);
    const resolveOne = await loadResolver(join(resolve(flags.rootDir), 'seccomp'), config.seccompDefault);
    const rows: Row[] = [];
    for (const pod of pods)
      for (const { name = '' } of containersOf(pod)) rows.push(toRow(pod, name, await resolveOne(pod, name)));
    writeResult(context, flags.output, listContainers(rows, config.seccompDefault));
    await warnOfAnnotations(pods, context);
    if (rows.some(({ type }) => type === 'refused')) throw new ReportedError(exitCodes.failed);
  });
}

const maxInputBytes = 3 * 1024 * 1024;

/** Reads the pods in a file of YAML or JSON, which may have several documents. Throws an ExitError if there are none. */
async function readPods(file: string, context: CommandContext): Promise<Pod[]> {
  const text = Buffer.from(await readInput(file, maxInputBytes, context)).toString('utf8');
  try {
    const values = (await parseDocuments(text)).filter((value) => isRecord(value) && value['kind'] === 'Pod');
    if (values.length > 0) return values.map((value) => decodeValue(podKind, 'v1', value).object);
  } catch (error) {
    if (!(error instanceof YamlError || error instanceof JsonError || error instanceof DecodeError))
      throw error;
    throw new ExitError(exitCodes.failed, `${inputName(file)}: ${error.message}`);
  }
  throw new ExitError(exitCodes.failed, `${inputName(file)} has no Pod in it`);
}

async function parseDocuments(text: string): Promise<unknown[]> {
  if (text.trimStart().startsWith('{')) return [parseJson(text).value];
  const read = await loadYamlReader();
  const parts = text.split(/^---(?=\s|$)/m).filter((part) => part.replaceAll(/^\s*#.*$/gm, '').trim() !== '');
  return parts.map((part) => read(part).value);
}

async function loadResolver(folder: string, seccompDefault: boolean) {
  const { loadJudge, createProfileFinder, profileLimitBytes, resolveSeccomp } = await import(
    '../../agent/index.ts'
  );
  const find = createProfileFinder({ folder, judge: await loadJudge(), limitBytes: profileLimitBytes });
  return (pod: Pod, container: string) => resolveSeccomp(pod, container, { seccompDefault, folder, find });
}

async function warnOfAnnotations(pods: readonly Pod[], context: CommandContext): Promise<void> {
  const { ignoredSeccompAnnotations } = await import('../../agent/index.ts');
  const names = [...new Set(pods.flatMap(ignoredSeccompAnnotations))];
  writeWarnings(
    context,
    names.map((name) => `the annotation ${name} is ignored; set securityContext.seccompProfile`),
  );
}

function toRow(pod: Pod, container: string, found: ResolvedSeccomp | ContainerRefusal): Row {
  const about = { pod: pod.metadata?.name ?? '', container };
  if (found.type === 'refused') return { ...about, ...found };
  const { wanted, profile, judgement } = found;
  const file = {
    file: profile.localhostRef,
    ...(judgement === undefined ? {} : { digest: judgement.digest }),
  };
  const warnings = judgement?.warnings.map(({ path, message }) =>
    path === '' ? message : `${path}: ${message}`,
  );
  return {
    ...about,
    type: wanted.type,
    from: wanted.from,
    ...(wanted.type === 'Localhost' ? file : {}),
    ...(warnings === undefined || warnings.length === 0 ? {} : { warnings }),
  };
}

function listContainers(rows: readonly Row[], seccompDefault: boolean): TableResult<Row> {
  const refusals = rows.flatMap(({ container, reason, message }) =>
    message === undefined ? [] : [`${sanitize(`${container}: ${reason}: ${message}`)}\n`],
  );
  const isRefused = ({ message }: Row) => message !== undefined;
  const cell = (toText: (row: Row) => string) => (row: Row) => (isRefused(row) ? '-' : toText(row));
  return {
    document: { seccompDefault, containers: rows },
    rows,
    after: refusals.join(''),
    columns: [
      { head: 'POD', cell: ({ pod }) => pod || '-' },
      { head: 'CONTAINER', cell: ({ container }) => container },
      {
        head: 'PROFILE',
        cell: (row) => (isRefused(row) ? 'REFUSED' : row.type),
        tone: (row) => (isRefused(row) ? 'bad' : undefined),
      },
      { head: 'FROM', cell: cell(({ from = '-' }) => from) },
      { head: 'FILE', cell: cell(({ file = '-' }) => file) },
      { head: 'DIGEST', cell: cell(({ digest = '-' }) => digest.slice(0, 19)) },
      { head: 'WHOLE DIGEST', cell: cell(({ digest = '-' }) => digest), wide: true },
    ],
    name: ({ pod, container }) => `${pod || '-'}/${container}`,
  };
}
