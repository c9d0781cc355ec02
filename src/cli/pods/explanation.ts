import { isRecord } from '../../api/index.ts';
import { numberCell, textCell, toRecords } from '../agent-client/response.ts';
import type { Paint } from '../terminal/colour.ts';
import type { TextResult } from '../terminal/result.ts';
import { sanitize } from '../terminal/text.ts';
import { describeRefused, formatAge, formatNext } from './list.ts';

type Item = Record<string, unknown>;

/** One pod for people: what it waits for first, then its containers, then what happened. */
export function describePod(pod: Item, nowMs: number): TextResult {
  const name = `${textCell(pod['namespace'])}/${textCell(pod['name'])}`;
  return {
    document: pod,
    names: [name],
    text: (paint) =>
      [
        sanitize(`pod ${name} (${textCell(pod['uid'])}, from ${describeOrigin(pod['origin'])})`),
        sanitize(`phase ${textCell(pod['phase'])}, ${textCell(pod['stage'])}`),
        ...describeEnd(pod['ends'], paint),
        ...describeWait(pod['waitsFor'], nowMs, paint),
        ...describeRefused(pod).map((line) => paint(line, 'bad')),
        ...toRecords(pod['fullDisks']).flatMap((disk) => describeFullDisk(disk, paint)),
        ...toRecords(pod['pressures']).map((each) => paint(sanitize(describePressure(each, nowMs)), 'bad')),
        ...toRecords(pod['containers']).flatMap((container) => describeContainer(container, nowMs, paint)),
        ...describeVolumes(toRecords(pod['volumes']), paint),
        ...describeTimeline(toRecords(pod['timeline'])),
      ]
        .map((line) => `${line}\n`)
        .join(''),
  };
}

function describeOrigin(origin: unknown): string {
  if (origin === 'api') return 'the API';
  if (origin === 'http') return 'a manifest at a URL';
  return origin === 'file' ? 'a manifest on the node' : textCell(origin);
}

function describeEnd(ends: unknown, paint: Paint): string[] {
  if (!isRecord(ends)) return [];
  const why = [ends['reason'], ends['message']].filter((each) => typeof each === 'string').join(': ');
  const text = `it ends: ${causes[String(ends['cause'])] ?? textCell(ends['cause'])}`;
  return [paint(sanitize(why === '' ? text : `${text}: ${why}`), 'doubtful'), ...describeAdvice(ends, '')];
}

const causes: Readonly<Record<string, string>> = {
  deleted: 'it is being deleted',
  gone: 'its object or manifest is gone',
  failed: 'the node ends it',
};

function describeWait(waitsFor: unknown, nowMs: number, paint: Paint): string[] {
  if (!isRecord(waitsFor)) return ['it waits for nothing'];
  const { reason, message, since, next } = waitsFor;
  const why = typeof message === 'string' && message !== '' ? message : textCell(reason);
  const age = since === undefined ? '' : ` for ${formatAge(since, nowMs)}`;
  const then =
    next === undefined
      ? 'it goes on as soon as that changes'
      : `it is tried again ${formatNext(next, nowMs)} (${textCell(next)})`;
  return [
    paint(sanitize(`waits${age}: ${why} (${textCell(reason)})`), 'doubtful'),
    `next: ${sanitize(then)}`,
    ...describeAdvice(waitsFor, ''),
  ];
}

/** Of the node. */
export function describePressure({ condition, since, found, last }: Item, nowMs: number): string {
  const short = `${textCell(condition)} for ${formatAge(since, nowMs)}: ${textCell(found)}`;
  if (!isRecord(last)) return `the node has ${short}`;
  return `the node has ${short}; ${formatAge(last['time'], nowMs)} ago: ${textCell(last['what'])}`;
}

function describeFullDisk(disk: Item, paint: Paint): string[] {
  const text = `full: ${textCell(disk['what'])}: ${textCell(disk['found'])}`;
  return [paint(sanitize(text), 'bad'), ...describeAdvice(disk, '')];
}

function describeContainer(container: Item, nowMs: number, paint: Paint): string[] {
  const { name, type, state, since, restarts, image, next, failedStarts } = container;
  const kind = type === 'regular' ? 'container' : `${textCell(type)} container`;
  const age = since === undefined ? '' : ` for ${formatAge(since, nowMs)}`;
  const head = `${kind} ${textCell(name)}: ${textCell(state)}${age}, ${numberCell(restarts)} restarts, image ${textCell(image)}`;
  const tone = state === 'running' ? 'good' : state === 'ended' ? undefined : 'doubtful';
  return [
    '',
    paint(sanitize(head), tone),
    ...describeReason(container),
    ...describeAdvice(container, '  '),
    ...(typeof failedStarts === 'number' ? [`  its start failed ${failedStarts} times in a row`] : []),
    ...(next === undefined ? [] : [`  is tried again ${formatNext(next, nowMs)}`]),
    ...describeExit(container['lastExit'], nowMs),
  ];
}

function describeReason({ reason, message }: Item): string[] {
  const parts = [reason, message].filter((each) => typeof each === 'string' && each !== '');
  return parts.length === 0 ? [] : [`  ${sanitize(parts.join(': '))}`];
}

function describeAdvice({ advice }: Item, indent: string): string[] {
  return typeof advice === 'string' ? [sanitize(`${indent}to do: ${advice}`)] : [];
}

function describeExit(exit: unknown, nowMs: number): string[] {
  if (!isRecord(exit)) return [];
  const { exitCode, reason, message, finishedAt } = exit;
  const age = finishedAt === undefined ? '' : ` ${formatAge(finishedAt, nowMs)} ago`;
  const text = typeof message === 'string' && message !== '' ? `: ${message}` : '';
  return [sanitize(`  ended last${age} with exit code ${numberCell(exitCode)} (${textCell(reason)})${text}`)];
}

function describeVolumes(volumes: readonly Item[], paint: Paint): string[] {
  if (volumes.length === 0) return [];
  const lines = volumes.flatMap(({ name, shows, since, problem }) => {
    const age = since === undefined ? '' : ` since ${textCell(since)}`;
    const why = typeof problem === 'string' ? [`  something newer cannot be written: ${problem}`] : [];
    return [
      sanitize(`volume ${textCell(name)} shows ${textCell(shows)}${age}`),
      ...why.map((line) => paint(sanitize(line), 'doubtful')),
    ];
  });
  return ['', ...lines];
}

function describeTimeline(entries: readonly Item[]): string[] {
  if (entries.length === 0) return [];
  const lines = entries.map(({ time, what, count }) => {
    const times = typeof count === 'number' && count > 1 ? ` (${count} times, last)` : '';
    return sanitize(`  ${textCell(time)}  ${textCell(what)}${times}`);
  });
  return ['', 'what happened:', ...lines];
}
