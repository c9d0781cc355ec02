import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { ContainerRefusal, ResolvedSeccomp } from '../../agent/index.ts';
import type { Pod } from '../../api/index.ts';
import { exitCodes } from '../../base/index.ts';
import { harmless } from '../access/report.ts';
import { rendered, table } from '../checkpoint/index.ts';
import type { CommandContext } from '../context.ts';
import { ReportedError } from '../context.ts';
import type { ConfigFlags } from '../flags/config-flags.ts';
import { configFileOptions, configSources, seccompDefaultOption } from '../flags/config-flags.ts';
import { rootDirOption } from '../flags/flags.ts';
import type { OutputFlags } from './output-option.ts';
import { outputOption } from './output-option.ts';
import { readPods } from './pod-documents.ts';

interface Flags extends OutputFlags, ConfigFlags {
  rootDir: string;
}

/** What a container gets, or why it cannot be made. */
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
      'Tell which seccomp profile each container of a pod gets on this node; ends with 1 when one cannot be made.',
    )
    .argument('<pod>', 'file of one or several pods, YAML or JSON; - is standard input')
    .addOption(rootDirOption())
    .addOption(seccompDefaultOption());
  for (const option of configFileOptions()) command.addOption(option);
  return command.addOption(outputOption()).action(async (file: string, flags: Flags) => {
    const pods = await readPods(file, context);
    const { containersOf, loadConfig } = await import('../../agent/index.ts');
    const { config } = await loadConfig(configSources(flags));
    const resolveOne = await resolver(join(resolve(flags.rootDir), 'seccomp'), config.seccompDefault);
    const rows: Row[] = [];
    for (const pod of pods)
      for (const { name = '' } of containersOf(pod)) rows.push(rowOf(pod, name, await resolveOne(pod, name)));
    const people = () => rowsText(rows);
    const result = { seccompDefault: config.seccompDefault, containers: rows };
    context.stdout.write(await rendered(flags, result, people));
    await warnOfAnnotations(pods, context);
    if (rows.some(({ type }) => type === 'refused')) throw new ReportedError(exitCodes.failed);
  });
}

async function resolver(folder: string, seccompDefault: boolean) {
  const { loadJudge, profileFinder, profileLimitBytes, resolveSeccomp } = await import(
    '../../agent/index.ts'
  );
  const find = profileFinder({ folder, judge: await loadJudge(), limitBytes: profileLimitBytes });
  return (pod: Pod, container: string) => resolveSeccomp(pod, container, { seccompDefault, folder, find });
}

async function warnOfAnnotations(pods: readonly Pod[], { stderr }: CommandContext): Promise<void> {
  const { ignoredSeccompAnnotations } = await import('../../agent/index.ts');
  for (const name of new Set(pods.flatMap(ignoredSeccompAnnotations)))
    stderr.write(
      `warning: the annotation ${harmless(name)} counts nothing; set securityContext.seccompProfile\n`,
    );
}

function rowOf(pod: Pod, container: string, found: ResolvedSeccomp | ContainerRefusal): Row {
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

function rowsText(rows: readonly Row[]): string {
  const cells = rows.map(({ pod, container, type, from = '-', file = '-', digest = '-', message }) => {
    const shown =
      message === undefined ? [type, from, file, digest.slice(0, 19)] : ['REFUSED', '-', '-', '-'];
    return [pod || '-', container, ...shown].map(harmless);
  });
  const refusals = rows.flatMap(({ container, reason, message }) =>
    message === undefined ? [] : [`${harmless(`${container}: ${reason}: ${message}`)}\n`],
  );
  return `${table([['POD', 'CONTAINER', 'PROFILE', 'FROM', 'FILE', 'DIGEST'], ...cells])}${refusals.join('')}`;
}
