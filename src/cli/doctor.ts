import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { AgentSetup, ControlPlanePlace, Row, Verdict } from '../agent/index.ts';
import { ExitError, exitCodes, systemClock } from '../base/index.ts';
import { findExaminedAgent } from './agent-client/examined-agent.ts';
import type { InstalledFlags } from './agent-client/installed-flags.ts';
import { findCheckout } from './agent-client/place.ts';
import type { PlaceFlags } from './flags/common-flags.ts';
import { groupSuffixOption, rootDirOption } from './flags/common-flags.ts';
import type { AgentPlaceFlags, ConfigFlags } from './flags/config-flags.ts';
import {
  agentPlaceOptions,
  configFieldOptions,
  configFileOptions,
  controlPlaneChoiceOptions,
  joinedKubeconfigPath,
  resolveAgentFolders,
} from './flags/config-flags.ts';
import { parsePort } from './flags/values.ts';
import type { Paint, Tone } from './terminal/colour.ts';
import { withoutColour } from './terminal/colour.ts';
import type { CommandContext } from './terminal/context.ts';
import { ReportedError } from './terminal/context.ts';
import type { OutputFlags } from './terminal/output.ts';
import { isForPeople, textOutputOption, writeRemark, writeResult } from './terminal/output.ts';
import { withProgress } from './terminal/progress.ts';
import { sanitize } from './terminal/text.ts';

interface Flags extends ConfigFlags, AgentPlaceFlags, OutputFlags, PlaceFlags {
  only?: string[];
  strict?: boolean;
  securePort: number;
  groupSuffix: string;
}

/** `nodeward doctor` */
export function doctorCommand(context: CommandContext): Command {
  const command = new Command('doctor').description(
    'Check whether this machine has what nodeward needs; changes nothing. Exit code 1 if a check failed. Examines the agent that runs, or what one with these flags would find.',
  );
  const options = [
    textOutputOption(),
    new Option('--only <ID,…>', 'run only these checks (docs/doctor.md); may be repeated').argParser(
      parseCheckIds,
    ),
    new Option('--strict', 'exit code 1 also if a check warns'),
    rootDirOption(),
    ...agentPlaceOptions(),
    ...configFileOptions(),
    ...controlPlaneChoiceOptions(),
    ...configFieldOptions(),
    new Option('--secure-port <port>', 'port of an embedded control plane')
      .default(6443)
      .argParser(parsePort),
    groupSuffixOption(),
  ];
  for (const option of options) command.addOption(option);
  return command.action(async (flags: Flags) => {
    const given = Object.keys(flags).filter((name) => command.getOptionValueSource(name) === 'cli');
    const setup = await findSetup(flags, new Set(given), context);
    const found = await withProgress(context, 'checking this machine', () =>
      runSelectedChecks(flags, setup, context),
    );
    const rows = worstFirst(found);
    writeResult(context, flags.output, {
      document: { checks: rows, summary: countVerdicts(rows) },
      names: rows.map(({ id }) => id),
      text: (paint) => formatReport(rows, paint),
    });
    const strict = flags.strict ?? false;
    if (rows.some(({ verdict }) => isFailure(verdict, strict))) throw new ReportedError(exitCodes.failed);
  });
}

/** Whether a check with this verdict makes the command end with 1 (docs/errors.md). */
export function isFailure(verdict: Verdict, strict: boolean): boolean {
  return verdict === 'failed' || (strict && verdict === 'warning');
}

function parseCheckIds(text: string, before: string[] = []): string[] {
  const ids = text.split(',').map((id) => id.trim());
  if (ids.every((id) => /^[a-z][a-z0-9-]*$/.test(id))) return [...before, ...ids];
  throw new InvalidArgumentError('It must be names of checks: ID,ID.');
}

async function runSelectedChecks(flags: Flags, setup: AgentSetup, context: CommandContext): Promise<Row[]> {
  const { createAllChecks, runChecks, createLocalHost } = await import('../agent/index.ts');
  const host = createLocalHost({ env: context.env });
  const checks = await createAllChecks(setup, host, context.signal);
  const { only } = flags;
  const unknown = only?.filter((id) => !checks.some((check) => check.id === id)) ?? [];
  if (unknown.length > 0) {
    const known = checks.map(({ id }) => id).join(', ');
    throw new ExitError(exitCodes.usage, `there is no check ${unknown.join(', ')}; there are: ${known}`);
  }
  const selected = checks.filter(({ id }) => only === undefined || only.includes(id));
  return await runChecks(selected, host, systemClock, context.signal);
}

/** What the agent that runs was started with; flags in `given` override that, and count alone where none runs. */
async function findSetup(
  flags: Flags,
  given: ReadonlySet<string>,
  context: CommandContext,
): Promise<AgentSetup> {
  const { running, installed, sources, described } = await findExaminedAgent(flags, context, (path) =>
    isAnswering(path, context),
  );
  if (isForPeople(flags.output)) writeRemark(context, `examining ${flags.rootDir} with ${described}`);
  const own = { ...flags, ...withoutGiven(installed, given) };
  const ofFlags = { ...toOwnSetup(own, given, context), sources };
  if (running === undefined) return ofFlags;
  const chooses = ['kubeconfig', 'bootstrapKubeconfig', 'embeddedControlPlane'].some((name) =>
    given.has(name),
  );
  return {
    ...ofFlags,
    agentPid: running.pid,
    ...(given.has('certDir') ? {} : { certDir: running.certDir }),
    ...(given.has('lockFile') ? {} : { lockFile: running.lockFile }),
    ...(given.has('hostnameOverride') ? {} : { nodeName: running.nodeName }),
    ...(given.has('groupSuffix') ? {} : { groupSuffix: running.groupSuffix }),
    ...(chooses ? {} : { controlPlane: running.controlPlane }),
    ...(given.has('securePort') ? {} : { apiPort: portOf(running.urls.api) ?? flags.securePort }),
  };
}

/** The flags of the installed agent that this command's do not override. */
function withoutGiven(installed: InstalledFlags, given: ReadonlySet<string>): InstalledFlags {
  return Object.fromEntries(Object.entries(installed).filter(([name]) => !given.has(name)));
}

const folderTimeoutMs = 3000;

/** Whether a folder, or its absence, can be seen in time. A process of its own looks, because a dead disk would block it. */
async function isAnswering(path: string, { env, signal }: CommandContext): Promise<boolean> {
  const { createLocalHost } = await import('../agent/index.ts');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(folderTimeoutMs)]);
  return await createLocalHost({ env })
    .inspectPath({ path }, limit)
    .then(
      () => true,
      () => {
        signal.throwIfAborted();
        return false;
      },
    );
}

function portOf(url: string | undefined): number | undefined {
  return url === undefined || !URL.canParse(url) ? undefined : Number(new URL(url).port || 443);
}

function toOwnSetup(
  flags: Flags,
  given: ReadonlySet<string>,
  { script }: CommandContext,
): Omit<AgentSetup, 'sources'> {
  const checkout = findCheckout(script);
  const isOfCheckout = checkout !== undefined && flags.rootDir === join(checkout, '.nodeward');
  const lockFile =
    isOfCheckout && !given.has('lockFile') ? join(flags.rootDir, 'nodeward.lock') : flags.lockFile;
  return {
    ...resolveAgentFolders(flags),
    lockFile: resolve(lockFile),
    nodeName: (flags.hostnameOverride ?? hostname()).trim().toLowerCase(),
    groupSuffix: flags.groupSuffix,
    controlPlane: toControlPlanePlace(flags),
    apiPort: flags.securePort,
  };
}

function toControlPlanePlace(flags: Flags): ControlPlanePlace {
  const { kubeconfig, bootstrapKubeconfig, embeddedControlPlane, rootDir } = flags;
  if (bootstrapKubeconfig !== undefined)
    return { mode: 'joining', kubeconfig: joinedKubeconfigPath(rootDir), bootstrapKubeconfig };
  if (kubeconfig !== undefined) return { mode: 'remote', kubeconfig };
  return { mode: embeddedControlPlane === false ? 'standalone' : 'embedded' };
}

function countVerdicts(rows: readonly Row[]): Partial<Record<Verdict, number>> {
  const counts: Partial<Record<Verdict, number>> = {};
  for (const { verdict } of rows) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

const tones: Readonly<Partial<Record<Verdict, Tone>>> = { failed: 'bad', warning: 'doubtful', ok: 'good' };
const order: readonly Verdict[] = ['failed', 'warning', 'unknown', 'ok', 'not-applicable'];

/** Checks with the same verdict keep their order. */
export function worstFirst(rows: readonly Row[]): Row[] {
  return order.flatMap((each) => rows.filter(({ verdict }) => verdict === each));
}

/** A line for each check, those with the same verdict together; below one that is not passed what is needed and what to do. */
export function formatReport(rows: readonly Row[], paint: Paint = withoutColour): string {
  const verdictWidth = Math.max(...rows.map(({ verdict }) => verdict.length));
  const idWidth = Math.max(...rows.map(({ id }) => id.length));
  const groups = [...new Set(rows.map(({ verdict }) => verdict))].map((each) =>
    rows
      .filter(({ verdict }) => verdict === each)
      .flatMap((row) => formatCheck(row, verdictWidth, idWidth, paint))
      .map((line) => `${line}\n`)
      .join(''),
  );
  const counts = Object.entries(countVerdicts(rows)).map(([verdict, count]) => `${count} ${verdict}`);
  const noun = rows.length === 1 ? 'check' : 'checks';
  return `${groups.join('\n')}\n${rows.length} ${noun}: ${counts.join(', ')}\n`;
}

function formatCheck(row: Row, verdictWidth: number, idWidth: number, paint: Paint): string[] {
  const { verdict, id, found, title, needed, advice } = row;
  const indent = ' '.repeat(verdictWidth + idWidth + 4);
  const state = paint(verdict, tones[verdict]) + ' '.repeat(verdictWidth - verdict.length);
  const first = `${state}  ${id.padEnd(idWidth)}  ${title}: ${sanitize(found)}`;
  if (verdict === 'ok' || verdict === 'not-applicable') return [first];
  const details = [`needed: ${needed}`, ...(advice === undefined ? [] : [`to do: ${sanitize(advice)}`])];
  return [first, ...details.map((line) => `${indent}${line}`)];
}
