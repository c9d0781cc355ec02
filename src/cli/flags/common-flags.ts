import { Option } from 'commander';
import { findGateProblem } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { parseDomain, parseFeatureGates, parseFilePath } from './values.ts';

// Options that several commands have.

export const rootDirOption = () =>
  new Option('--root-dir <dir>', 'folder for all data').default('/var/lib/nodeward').argParser(parseFilePath);

export const groupSuffixOption = () =>
  new Option('--group-suffix <domain>', 'domain suffix of API groups')
    .default('k8s.io')
    .argParser(parseDomain);

export const featureGatesOption = () =>
  new Option('--feature-gates <A=true,B=false>', 'features to switch on or off; may be repeated').argParser(
    parseFeatureGates,
  );

/** Throws an ExitError with all problems of the gates that the flags set. */
export function checkGates(gates: Readonly<Record<string, boolean>>): void {
  const problems = Object.entries(gates).flatMap(([name, on]) => findGateProblem(name, on) ?? []);
  if (problems.length === 0) return;
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
