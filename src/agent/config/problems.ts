import { ExitError, exitCodes } from '../../base/index.ts';
import type { Origin } from './located.ts';

/** One thing that is wrong with the configuration. */
export interface Problem {
  /** Undefined for what concerns the whole of `file`. */
  readonly at?: Origin;
  readonly file?: string;
  /** The field, as `featureGates.X`; empty when it concerns none. */
  readonly path: string;
  readonly message: string;
}

const maxLines = 100;

/** The configuration cannot be used; the message holds every problem found, one a line. */
export class ConfigError extends ExitError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const lines = problems.slice(0, maxLines).map(formatProblem);
    const rest = problems.length - lines.length;
    if (rest > 0) lines.push(`and ${rest} more`);
    super(exitCodes.configuration, lines.join('\n'));
    this.problems = problems;
  }
}

/** `file:line:column: path: message`, or `--flag: message`. */
export function formatProblem(problem: Problem): string {
  const { at, file, path, message } = problem;
  const parts = [formatPlace(at) ?? file, at?.kind === 'flag' ? undefined : path, message];
  return parts.filter((part) => part !== undefined && part !== '').join(': ');
}

function formatPlace(at: Origin | undefined): string | undefined {
  if (at?.kind === 'file') return `${at.file}:${at.line}:${at.column}`;
  return at?.kind === 'flag' ? at.flag : undefined;
}

/** In the order of the files, and by line in each; flags last. */
export function sortProblems(problems: readonly Problem[], files: readonly string[]): Problem[] {
  const rank = ({ at, file }: Problem): [number, number, number] => {
    if (at?.kind === 'file') return [files.indexOf(at.file), at.line, at.column];
    return [file === undefined ? files.length : files.indexOf(file), 0, 0];
  };
  return problems
    .map((problem) => ({ problem, rank: rank(problem) }))
    .sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || a.rank[2] - b.rank[2])
    .map(({ problem }) => problem);
}
