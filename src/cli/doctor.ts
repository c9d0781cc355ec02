import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ControlPlanePlace, Examined, Row, Verdict } from '../agent/index.ts';
import { ExitError, exitCodes, systemClock } from '../base/index.ts';
import type { CommandContext } from './context.ts';
import { ReportedError } from './context.ts';
import { countVerdicts, reportText } from './doctor-report.ts';
import type { ConfigFlags } from './flags/config-flags.ts';
import {
  configFieldOptions,
  configFileOptions,
  configSources,
  controlPlaneChoiceOptions,
} from './flags/config-flags.ts';
import { domain, filePath, port, rootDirOption } from './flags/flags.ts';

interface Flags extends ConfigFlags {
  output?: 'json' | 'yaml';
  only?: string[];
  strict?: boolean;
  rootDir: string;
  certDir?: string;
  lockFile: string;
  hostnameOverride?: string;
  securePort: number;
  groupSuffix: string;
}

/** `nodeward doctor` */
export function doctorCommand(context: CommandContext): Command {
  const command = new Command('doctor').description(
    'Look whether this machine has what nodeward needs, changing nothing; ends with 1 when a check failed. Takes the flags of the agent.',
  );
  const options = [
    new Option('-o, --output <format>', 'json or yaml (default: a table)').choices(['json', 'yaml']),
    new Option('--only <ID,…>', 'make these checks only (docs/doctor.md); may be given repeatedly').argParser(
      ids,
    ),
    new Option('--strict', 'end with 1 also when there is a warning'),
    rootDirOption(),
    new Option('--cert-dir <dir>', 'folder for keys and certificates (default: ROOT-DIR/pki)').argParser(
      filePath,
    ),
    new Option('--lock-file <file>', 'lock that keeps a second agent from running')
      .default('/var/run/nodeward.lock')
      .argParser(filePath),
    new Option('--hostname-override <name>', 'name of the node (default: the host name)'),
    ...configFileOptions(),
    ...controlPlaneChoiceOptions(),
    ...configFieldOptions(),
    new Option('--secure-port <port>', 'port of an embedded control plane').default(6443).argParser(port),
    new Option('--group-suffix <domain>', 'domain suffix of API groups').default('k8s.io').argParser(domain),
  ];
  for (const option of options) command.addOption(option);
  return command.action(async (flags: Flags) => {
    const rows = await examine(flags, context);
    context.stdout.write(await shown(rows, flags));
    const strict = flags.strict ?? false;
    if (rows.some(({ verdict }) => fails(verdict, strict))) throw new ReportedError(exitCodes.failed);
  });
}

/** Whether a check of that verdict makes the command end with 1 (docs/errors.md). */
export function fails(verdict: Verdict, strict: boolean): boolean {
  return verdict === 'failed' || (strict && verdict === 'warning');
}

function ids(text: string, before: string[] = []): string[] {
  const given = text.split(',').map((id) => id.trim());
  if (given.every((id) => /^[a-z][a-z0-9-]*$/.test(id))) return [...before, ...given];
  throw new InvalidArgumentError('It must be names of checks: ID,ID.');
}

async function examine(flags: Flags, context: CommandContext): Promise<Row[]> {
  const { allChecks, runChecks, thisHost } = await import('../agent/index.ts');
  const host = thisHost({ env: context.env });
  const checks = await allChecks(examined(flags), host, context.signal);
  const unknown = flags.only?.filter((id) => !checks.some((check) => check.id === id)) ?? [];
  if (unknown.length > 0) {
    const known = checks.map(({ id }) => id).join(', ');
    throw new ExitError(exitCodes.usage, `there is no check ${unknown.join(', ')}; there are: ${known}`);
  }
  const chosen = checks.filter(({ id }) => flags.only === undefined || flags.only.includes(id));
  return await runChecks(chosen, host, systemClock, context.signal);
}

function examined(flags: Flags): Examined {
  const rootDir = resolve(flags.rootDir);
  return {
    sources: configSources(flags),
    rootDir,
    certDir: flags.certDir ?? join(rootDir, 'pki'),
    lockFile: resolve(flags.lockFile),
    nodeName: (flags.hostnameOverride ?? hostname()).trim().toLowerCase(),
    groupSuffix: flags.groupSuffix,
    controlPlane: placeOf(flags, rootDir),
    apiPort: flags.securePort,
  };
}

function placeOf(flags: Flags, rootDir: string): ControlPlanePlace {
  const { kubeconfig, bootstrapKubeconfig, embeddedControlPlane } = flags;
  if (bootstrapKubeconfig !== undefined)
    return { mode: 'joining', kubeconfig: join(rootDir, 'node.kubeconfig'), bootstrapKubeconfig };
  if (kubeconfig !== undefined) return { mode: 'remote', kubeconfig };
  return { mode: embeddedControlPlane === false ? 'standalone' : 'embedded' };
}

async function shown(rows: readonly Row[], { output }: Flags): Promise<string> {
  if (output === undefined) return reportText(rows);
  const report = { checks: rows, summary: countVerdicts(rows) };
  if (output === 'json') return `${JSON.stringify(report, undefined, 2)}\n`;
  const { writeYaml } = await import('../api/index.ts');
  return writeYaml(report);
}
