import type {
  ArchiveContents,
  Comparison,
  Difference,
  FileChange,
  NumberChange,
  ProcessChange,
} from '../../../agent/checkpoint/archive/index.ts';
import type { Paint, Tone } from '../../terminal/colour.ts';
import { withoutColour } from '../../terminal/colour.ts';
import { formatBytes } from '../../terminal/text.ts';
import { fileCells, limitedTable } from './inspect-format.ts';

type Environment = ArchiveContents['environment'];

/** The differences as a table: `+` is added, `-` removed, `~` changed. `values`: set if values of the environment may be printed. */
export function formatComparison(
  comparison: Comparison,
  names: { old: string; new: string },
  values: { old: Environment; new: Environment } | undefined,
  paint: Paint = withoutColour,
): string {
  const { same, facts, processes, files, mounts, environment, annotations, changedFiles, log } = comparison;
  const warning = formatWarning(same, names);
  if (!comparison.differs) return `${warning}nothing changed\n`;
  const rows = [
    ...processes.ended.map(({ pid, comm }) => ['-', 'process', `${pid} ${comm}`]),
    ...processes.started.map(({ pid, comm, memory }) => [
      '+',
      'process',
      `${pid} ${comm}`,
      `${formatBytes(memory.privateBytes)} private`,
    ]),
    ...processes.changed.map((change) => [
      '~',
      'process',
      `${change.pid} ${change.comm}`,
      formatChange(change),
    ]),
    ...files.closed.map((file) => ['-', 'file', `${file.pid} ${file.comm}`, formatFile(file)]),
    ...files.opened.map((file) => ['+', 'file', `${file.pid} ${file.comm}`, formatFile(file)]),
    ...rowsOf('mount', mounts),
    ...rowsOf('variable', environment, values === undefined ? undefined : valueFormatter(values)),
    ...rowsOf('annotation', annotations),
    ...changedFiles.files.map(({ path, old, new: current }) => [
      signOf(old, current),
      'changed file',
      path,
      formatSizes(old, current),
    ]),
    ...countRow('changed files', changedFiles.count, String),
    ...countRow('changed files', changedFiles.bytes, formatBytes),
    ...countRow('log', log, formatBytes),
    ...facts.map(({ what, old, new: current }) => [
      '~',
      what,
      `${old || '(none)'} -> ${current || '(none)'}`,
    ]),
  ];
  const toned = rows.map(([sign = '', ...cells]) => [{ text: sign, tone: tones[sign] }, ...cells]);
  return warning + limitedTable(['', 'WHAT', 'WHICH', 'HOW'], toned, paint);
}

const tones: Readonly<Record<string, Tone>> = { '+': 'bad', '-': 'good', '~': 'doubtful' };

/** Comes first, because it puts all the rest in doubt. */
function formatWarning(same: Comparison['same'], names: { old: string; new: string }): string {
  if (same === 'container') return '';
  if (same === 'pod') return `${names.new} was restarted between the two checkpoints\n\n`;
  return `these are checkpoints of different containers: ${names.old} and ${names.new}\n\n`;
}

function formatChange({ state, threads, virtualBytes, privateBytes, sharedBytes }: ProcessChange): string {
  const parts = [
    state === undefined ? '' : `${state.old} -> ${state.new}`,
    threads === undefined ? '' : `threads ${threads.old} -> ${threads.new}`,
    formatByteChange('private', privateBytes),
    formatByteChange('shared', sharedBytes),
    formatByteChange('virtual', virtualBytes),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function formatByteChange(name: string, change: NumberChange | undefined): string {
  return change === undefined ? '' : `${name} ${formatGrowth(change, formatBytes)}`;
}

function formatGrowth({ old, new: current }: NumberChange, format: (value: number) => string): string {
  return `${format(old)} -> ${format(current)} (${current < old ? '-' : '+'}${format(Math.abs(current - old))})`;
}

const formatFile = (file: Parameters<typeof fileCells>[0]): string =>
  fileCells(file)
    .filter((cell) => cell !== '')
    .join(' ');

function rowsOf(what: string, difference: Difference, value?: (name: string) => string): string[][] {
  const { added, removed, changed } = difference;
  const row = (sign: string) => (name: string) => [sign, what, name, value?.(name) ?? ''];
  return [...removed.map(row('-')), ...added.map(row('+')), ...changed.map(row('~'))];
}

function valueFormatter(values: { old: Environment; new: Environment }): (name: string) => string {
  const find = (all: Environment, name: string) => all.find((each) => each.name === name)?.value ?? '';
  return (name) => `${find(values.old, name)} -> ${find(values.new, name)}`;
}

function signOf(old: FileChange['old'], current: FileChange['new']): string {
  if (old === undefined) return '+';
  return current === undefined ? '-' : '~';
}

const formatSizes = (old: FileChange['old'], current: FileChange['new']): string =>
  `${formatSize(old)} -> ${formatSize(current)}`;

function formatSize(size: FileChange['old']): string {
  if (size === undefined) return '(none)';
  return size === 'removed' ? '(removed)' : formatBytes(size);
}

function countRow(what: string, count: NumberChange, format: (value: number) => string): string[][] {
  return count.old === count.new ? [] : [['~', what, '', formatGrowth(count, format)]];
}
