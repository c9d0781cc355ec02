import { Option } from 'commander';
import { findForeignGateProblem, hasNoEffect } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { parseDomain, parseFeatureGates, parseFilePath } from './values.ts';

// Options that several commands have.

/** What a command talks to, by its flags or found where they say nothing (agent-client/fill-place.ts). */
export interface PlaceFlags {
  rootDir: string;
  kubeconfig?: string;
  /** Says on standard error what was found; called when it is used, and says it once. Absent where there is nothing to say. */
  announcePlace?: () => void;
}

/** The root folder of what a command talks to; when it is not given, `findPlace` says which (agent-client/place.ts). */
export class RootDirOption extends Option {}

/** The kubeconfig of the API server that a command sends its requests to. */
export class ServerOption extends Option {
  /** Whether $KUBECONFIG counts when the option is not given. */
  readonly variableCounts: boolean;

  constructor(help: string, variableCounts: boolean) {
    super('--kubeconfig <file>', help);
    this.variableCounts = variableCounts;
  }
}

/** The root folder of a process that makes it: it is never that of a checkout, but by its flag or its variable. */
export class OwnRootDirOption extends Option {}

export const installedRootDir = '/var/lib/nodeward';

export const rootDirOption = () =>
  new RootDirOption(
    '--root-dir <dir>',
    `folder of the agent or control plane (default: $NODEWARD_ROOT_DIR, .nodeward of the checkout, ${installedRootDir})`,
  ).argParser(parseFilePath);

export const ownRootDirOption = () =>
  new OwnRootDirOption(
    '--root-dir <dir>',
    `folder for all data (default: $NODEWARD_ROOT_DIR, ${installedRootDir})`,
  ).argParser(parseFilePath);

/** For a command that sends requests to an API server. `help`: what the credentials are for. */
export const serverOption = (help: string) => new ServerOption(help, true).argParser(parseFilePath);

/** For a command that works on a folder, and asks an API server only where it is named. */
export const explicitServerOption = (help: string) => new ServerOption(help, false).argParser(parseFilePath);

export const groupSuffixOption = () =>
  new Option('--group-suffix <domain>', 'domain suffix of API groups')
    .default('k8s.io')
    .argParser(parseDomain);

export const featureGatesOption = () =>
  new Option('--feature-gates <A=true,B=false>', 'features to switch on or off; may be repeated').argParser(
    parseFeatureGates,
  );

/** Returns warnings about gates that the flags set; throws an ExitError with all problems. */
export function checkGates(gates: Readonly<Record<string, boolean>>): string[] {
  const problems = Object.entries(gates).flatMap(([name, on]) => findForeignGateProblem(name, on) ?? []);
  const warn = (name: string) =>
    `--feature-gates: ${name} has no effect here: it is a feature of the reference that is not switched here`;
  if (problems.length === 0) return Object.keys(gates).filter(hasNoEffect).map(warn);
  throw new ExitError(
    exitCodes.configuration,
    `the value of --feature-gates cannot be used: ${problems.join('; ')}`,
  );
}

export const logOptions = () => [
  new Option(
    '--log-format <format>',
    'format of log lines (default: text on a terminal and in the journal, json elsewhere)',
  ).choices(['json', 'text']),
  new Option('-v, --verbose', 'also log what is of interest only when something is wrong'),
];
