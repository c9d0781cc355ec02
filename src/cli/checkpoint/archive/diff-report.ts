import type {
  ArchiveContents,
  Comparison,
  Counted,
  Difference,
  FileChange,
  ProcessChange,
} from '../../../agent/checkpoint/archive/index.ts';
import { harmless } from '../../access/report.ts';
import { shownBytes } from '../../storage/report.ts';
import { fileCells, table } from './inspect-report.ts';

type Environment = ArchiveContents['environment'];

/** What changed, as people read it: `+` is new, `-` gone, `~` changed. `values`: of the environment, to be shown. */
export function shownComparison(
  comparison: Comparison,
  names: { old: string; new: string },
  values: { old: Environment; new: Environment } | undefined,
): string {
  const { same, facts, processes, files, mounts, environment, annotations, changedFiles, log } = comparison;
  const head = headOf(same, names);
  if (!comparison.differs) return `${head}nothing changed\n`;
  const rows = [
    ...processes.ended.map(({ pid, comm }) => ['-', 'process', `${pid} ${comm}`]),
    ...processes.started.map(({ pid, comm, memory }) => [
      '+',
      'process',
      `${pid} ${comm}`,
      `${shownBytes(memory.privateBytes)} private`,
    ]),
    ...processes.changed.map((change) => [
      '~',
      'process',
      `${change.pid} ${change.comm}`,
      shownChange(change),
    ]),
    ...files.closed.map((file) => ['-', 'file', `${file.pid} ${file.comm}`, fileText(file)]),
    ...files.opened.map((file) => ['+', 'file', `${file.pid} ${file.comm}`, fileText(file)]),
    ...rowsOf('mount', mounts),
    ...rowsOf('variable', environment, values === undefined ? undefined : valuesShown(values)),
    ...rowsOf('annotation', annotations),
    ...changedFiles.files.map(({ path, old, new: now }) => [
      signOf(old, now),
      'changed file',
      path,
      shownSizes(old, now),
    ]),
    ...countRow('changed files', changedFiles.count, String),
    ...countRow('changed files', changedFiles.bytes, shownBytes),
    ...countRow('log', log, shownBytes),
    ...facts.map(({ what, old, new: now }) => ['~', what, `${old || '(none)'} -> ${now || '(none)'}`]),
  ];
  return head + table(['', 'WHAT', 'WHICH', 'HOW'], rows);
}

/** What makes all else doubtful is said first. */
function headOf(same: Comparison['same'], names: { old: string; new: string }): string {
  if (same === 'container') return '';
  if (same === 'pod') return `${names.new} was started anew between the two checkpoints\n\n`;
  return `these are checkpoints of different containers: ${names.old} and ${names.new}\n\n`;
}

function shownChange({ state, threads, virtualBytes, privateBytes, sharedBytes }: ProcessChange): string {
  const parts = [
    state === undefined ? '' : `${state.old} -> ${state.new}`,
    threads === undefined ? '' : `threads ${threads.old} -> ${threads.new}`,
    sized('private', privateBytes),
    sized('shared', sharedBytes),
    sized('virtual', virtualBytes),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function sized(name: string, change: Counted | undefined): string {
  return change === undefined ? '' : `${name} ${growth(change, shownBytes)}`;
}

function growth({ old, new: now }: Counted, shown: (value: number) => string): string {
  return `${shown(old)} -> ${shown(now)} (${now < old ? '-' : '+'}${shown(Math.abs(now - old))})`;
}

const fileText = (file: Parameters<typeof fileCells>[0]): string =>
  fileCells(file)
    .filter((cell) => cell !== '')
    .join(' ');

function rowsOf(what: string, difference: Difference, value?: (name: string) => string): string[][] {
  const { added, removed, changed } = difference;
  const row = (sign: string) => (name: string) => [sign, what, name, value?.(name) ?? ''];
  return [...removed.map(row('-')), ...added.map(row('+')), ...changed.map(row('~'))];
}

function valuesShown(values: { old: Environment; new: Environment }): (name: string) => string {
  const find = (all: Environment, name: string) => all.find((each) => each.name === name)?.value ?? '';
  return (name) => harmless(`${find(values.old, name)} -> ${find(values.new, name)}`);
}

function signOf(old: FileChange['old'], now: FileChange['new']): string {
  if (old === undefined) return '+';
  return now === undefined ? '-' : '~';
}

const shownSizes = (old: FileChange['old'], now: FileChange['new']): string =>
  `${shownSize(old)} -> ${shownSize(now)}`;

function shownSize(size: FileChange['old']): string {
  if (size === undefined) return '(none)';
  return size === 'removed' ? '(removed)' : shownBytes(size);
}

function countRow(what: string, count: Counted, shown: (value: number) => string): string[][] {
  return count.old === count.new ? [] : [['~', what, '', growth(count, shown)]];
}
