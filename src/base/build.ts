import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, tryParseJson } from './json.ts';
import type { MetricsRegistry } from './metrics.ts';
import { Gauge } from './metrics.ts';

/** What the program was made from. */
export interface Build {
  /** The hash of the commit, or `unknown`. */
  readonly commit: string;
  /** The time of the commit, RFC 3339 in UTC, or `unknown`. */
  readonly date: string;
}

const unknown: Build = { commit: 'unknown', date: 'unknown' };

/** JSON of the build, which scripts/build.ts puts in; there is no such variable where the sources run as they are. */
declare const nodewardBuild: string;

/** The build of this program; read once. */
let known: Build | undefined;

/** Where the sources of a checkout run, git is asked, once and for at most two seconds. */
export function readBuild(): Build {
  known ??=
    typeof nodewardBuild === 'undefined'
      ? askGit(join(import.meta.dirname, '../..'))
      : toBuild(tryParseJson(nodewardBuild));
  return known;
}

/** Of the commit that is checked out in `root`; unknown where there is no git, or no checkout. */
export function askGit(root: string): Build {
  if (!existsSync(join(root, '.git'))) return unknown;
  const args = ['-C', root, 'log', '-1', '--no-show-signature', '--format=%H %ct'];
  try {
    const text = execFileSync('git', args, {
      encoding: 'utf8',
      timeout: 2000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [, commit, seconds] = /^([0-9a-f]{40,64}) (\d+)\s*$/.exec(text) ?? [];
    if (commit === undefined) return unknown;
    return { commit, date: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z') };
  } catch {
    return unknown;
  }
}

function toBuild(value: unknown): Build {
  const { commit, date } = isRecord(value) ? value : {};
  return typeof commit === 'string' && typeof date === 'string' ? { commit, date } : unknown;
}

const name = 'nodeward_build_info';

/** `nodeward_build_info`: always 1; what counts are its labels. They are read when the metrics are. */
export function registerBuildInfo(registry: MetricsRegistry, version: string): void {
  if (registry.getSingleMetric(name) !== undefined) return;
  new Gauge({
    name,
    help: 'The version of the program, and the commit that it was made from; always 1.',
    labelNames: ['version', 'commit', 'date', 'node'],
    registers: [registry],
    collect() {
      this.set({ version, ...readBuild(), node: process.version }, 1);
    },
  });
}
