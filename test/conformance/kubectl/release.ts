import { fetched } from '../../integration/lab/index.ts';

/** A kubectl under test. Suites ask its minor version for what came with a later one. */
export interface Release {
  /** 20 of 1.20; of the newest at least this. */
  readonly minor: number;
  program(): string;
}

/** Debian 12's, Debian 13's, and the newest that Debian has. */
export const releases = {
  '1.20': { minor: 20, program: () => fetched('kubectl-1.20/bin/kubectl') },
  '1.32': { minor: 32, program: () => fetched('kubectl-1.32/bin/kubectl') },
  newest: { minor: 36, program: () => fetched('tools/bin/kubectl') },
} as const satisfies Record<string, Release>;
