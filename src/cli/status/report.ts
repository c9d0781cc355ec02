import type { Paint, Tone } from '../terminal/colour.ts';
import type { TextResult } from '../terminal/result.ts';
import { sanitize } from '../terminal/text.ts';

/** `warning`: it works, but something needs a look. `unknown`: it could not be found out. */
export type State = 'ok' | 'warning' | 'failed' | 'unknown';

/** What has been found out of one part. */
export interface Finding {
  /** `node`, `store`, … */
  readonly part: string;
  readonly state: State;
  readonly found: string;
  /** The command that mends it, or shows more of it. */
  readonly mend?: string;
}

const order: readonly State[] = ['failed', 'warning', 'unknown', 'ok'];
const tones: Readonly<Record<State, Tone | undefined>> = {
  failed: 'bad',
  warning: 'doubtful',
  unknown: 'doubtful',
  ok: 'good',
};

/** Whether everything that could be looked at is as it should be. */
export const isWell = (findings: readonly Finding[]): boolean =>
  findings.every(({ state }) => state === 'ok' || state === 'unknown');

/** What is wrong comes first, with the command that mends it; `program` is nodeward as the user can run it here. */
export function toReport(findings: readonly Finding[], program: string): TextResult {
  const sorted = order.flatMap((each) => findings.filter(({ state }) => state === each));
  const well = isWell(findings);
  return {
    document: { well, parts: sorted },
    names: sorted.map(({ part }) => part.replaceAll(' ', '-')),
    text: (paint) =>
      `${sorted.map((finding) => formatFinding(finding, program, paint)).join('')}\n${formatEnd(findings)}\n`,
  };
}

const stateWidth = 'warning'.length;
const partWidth = 'control plane'.length;

function formatFinding({ part, state, found, mend }: Finding, program: string, paint: Paint): string {
  const first = `${paint(state, tones[state])}${' '.repeat(stateWidth - state.length)}`;
  const line = `${first}  ${part.padEnd(partWidth)}  ${sanitize(found)}\n`;
  if (mend === undefined) return line;
  const command = mend.replaceAll(/(?<=^|; )nodeward(?= )/g, program);
  return `${line}${' '.repeat(stateWidth + partWidth + 4)}to do: ${sanitize(command)}\n`;
}

function formatEnd(findings: readonly Finding[]): string {
  if (findings.every(({ state }) => state === 'ok')) return 'all is well';
  const counts = order.map((each) => [findings.filter(({ state }) => state === each).length, each] as const);
  return counts.flatMap(([count, state]) => (count === 0 ? [] : [`${count} ${state}`])).join(', ');
}
