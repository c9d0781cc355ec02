import type { CronJob, Job } from '../../../api/index.ts';
import { formatTime, parseSchedule } from '../../../api/index.ts';
import type { Happening } from '../../../client/events/index.ts';
import { findCondition, finishedCondition } from '../job/index.ts';
import { normal, warning } from '../pod-control.ts';
import { nextTime, WallClock } from './next-time.ts';
import { findStartTimes } from './start-times.ts';

type Status = NonNullable<CronJob['status']>;
type Reference = NonNullable<Status['active']>[number];

export interface CronJobView {
  readonly cronJob: CronJob;
  /** All that it controls. */
  readonly jobs: readonly Job[];
  /** Wall clock. */
  readonly nowMs: number;
}

/** What is to be done, in this order. */
export interface CronJobDecision {
  readonly happenings: readonly Happening[];
  /** Jobs that make place for the next. */
  readonly replace: readonly Job[];
  /** When the job that is to be begun was due, wall clock, ms. */
  readonly startMs?: number | undefined;
  readonly status: Status;
  readonly againMs?: number | undefined;
}

export function decideCronJob({ cronJob, jobs, nowMs }: CronJobView): CronJobDecision {
  const { status, happenings } = follow(cronJob, jobs);
  const rest: CronJobDecision = { happenings, replace: [], status };
  if (cronJob.metadata?.deletionTimestamp !== undefined) return rest;
  const read = readSchedule(cronJob);
  if ('problem' in read) {
    const isQuiet = cronJob.spec?.suspend === true && read.problem.reason !== 'UnknownTimeZone';
    return isQuiet ? rest : { ...rest, happenings: [...happenings, read.problem] };
  }
  if (cronJob.spec?.suspend === true) return rest;
  const happened = [...happenings, ...(read.advice === undefined ? [] : [read.advice])];
  const times = findStartTimes({ ...cronJob, status }, read.next, nowMs, read.everyMs);
  if (typeof times === 'string') {
    const message = `invalid schedule: ${cronJob.spec?.schedule} : ${times}`;
    return { ...rest, happenings: [...happened, warning('InvalidSchedule', message)] };
  }
  const { dueMs, nextMs: againMs, hasMissedMany } = times;
  if (dueMs === undefined) return { ...rest, happenings: happened, againMs };
  const tooMany = hasMissedMany ? [warning('TooManyMissedTimes', tooManyText)] : [];
  return {
    ...rest,
    againMs,
    ...start({ ...cronJob, status }, jobs, dueMs, nowMs, [...happened, ...tooMany]),
  };
}

const tooManyText =
  'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';

type Start = Pick<CronJobDecision, 'happenings' | 'replace' | 'startMs'>;

/** What comes of a start that is due. */
function start(
  { metadata, spec, status }: CronJob,
  jobs: readonly Job[],
  dueMs: number,
  nowMs: number,
  happenings: readonly Happening[],
): Start {
  const none: Start = { happenings, replace: [] };
  const tell = (happening: Happening): Start => ({ ...none, happenings: [...happenings, happening] });
  const active = status?.active ?? [];
  const deadlineSeconds = spec?.startingDeadlineSeconds;
  if (deadlineSeconds !== undefined && dueMs + Number(deadlineSeconds) * 1000 < nowMs)
    return tell(warning('MissSchedule', `Missed scheduled time to start a job: ${formatRfc1123(dueMs)}`));
  const name = jobNameFor(metadata?.name ?? '', dueMs);
  if (active.some((each) => each.name === name)) return none;
  if (spec?.concurrencyPolicy === 'Forbid' && active.length > 0) {
    const message = 'Not starting job because prior execution is running and concurrency policy is Forbid';
    return tell(normal('JobAlreadyActive', message));
  }
  const isActive = ({ metadata: { uid = '' } = {} }: Job) => active.some((each) => each.uid === uid);
  const replace = spec?.concurrencyPolicy === 'Replace' ? jobs.filter(isActive) : [];
  return { ...none, replace, startMs: dueMs };
}

/** The name of the job of one start: by its minute, so that no start is carried out twice. */
export function jobNameFor(cronJob: string, startMs: number): string {
  return `${cronJob}-${Math.floor(startMs / 60_000)}`;
}

/** Tells when the job of a start was due. */
export const startAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** What has become of its jobs. */
function follow(
  { metadata, status = {} }: CronJob,
  jobs: readonly Job[],
): Pick<CronJobDecision, 'status' | 'happenings'> {
  const happenings: Happening[] = [];
  const uids = new Map(jobs.map((job) => [job.metadata?.uid, job]));
  const active: Reference[] = [];
  for (const each of status.active ?? []) {
    const job = uids.get(each.uid);
    const ended = job && finishedCondition(job);
    if (job === undefined) happenings.push(normal('MissingJob', `Active job went missing: ${each.name}`));
    else if (ended === undefined) active.push(each);
    else {
      const message = `Saw completed job: ${each.name}, condition: ${ended.type}`;
      happenings.push(normal('SawCompletedJob', message));
    }
  }
  const known = new Set(status.active?.map(({ uid }) => uid));
  let { lastScheduleTime } = status;
  for (const job of jobs) {
    if (known.has(job.metadata?.uid ?? '') || finishedCondition(job) !== undefined) continue;
    const startMs = startOf(job, metadata?.name ?? '');
    if (startMs !== undefined) {
      active.push(referTo(job));
      lastScheduleTime = later(lastScheduleTime, formatTime(startMs));
      continue;
    }
    const message = `Saw a job that the controller did not create or forgot: ${job.metadata?.name}`;
    happenings.push(warning('UnexpectedJob', message));
  }
  const started = lastScheduleTime === undefined ? {} : { lastScheduleTime };
  return { happenings, status: withTimes({ ...status, ...started, active }, jobs) };
}

/** Which start of the schedule a job is for: one that was made before its start could be noted down; undefined: for none. */
function startOf({ metadata }: Job, cronJob: string): number | undefined {
  const startMs = Date.parse(metadata?.annotations?.[startAnnotation] ?? '');
  return metadata?.name === jobNameFor(cronJob, startMs) ? startMs : undefined;
}

/** How a CronJob names one of its jobs. */
export function referTo({ apiVersion = '', kind = '', metadata }: Job): Reference {
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata ?? {};
  return { kind, apiVersion, name, namespace, uid, resourceVersion };
}

function later(one: string | undefined, other: string): string {
  return one !== undefined && one >= other ? one : other;
}

function withTimes({ active = [], lastSuccessfulTime, ...status }: Status, jobs: readonly Job[]): Status {
  const times = jobs
    .filter((job) => findCondition(job, 'Complete') !== undefined)
    .map((job) => job.status?.completionTime);
  const last = [lastSuccessfulTime, ...times]
    .filter((time) => time !== undefined)
    .reduce<string | undefined>(later, undefined);
  return {
    ...status,
    ...(active.length === 0 ? {} : { active }),
    ...(last === undefined ? {} : { lastSuccessfulTime: last }),
  };
}

type ReadSchedule =
  | {
      readonly next: (afterMs: number) => number | undefined;
      readonly everyMs?: number;
      readonly advice?: Happening;
    }
  | { readonly problem: Happening };

function readSchedule({ spec }: CronJob): ReadSchedule {
  const { schedule = '', timeZone } = spec ?? {};
  const parsed = parseSchedule(schedule);
  if ('wrong' in parsed)
    return {
      problem: warning(
        'UnparseableSchedule',
        `unparseable schedule: ${JSON.stringify(schedule)} : ${parsed.wrong}`,
      ),
    };
  const zone = timeZone ?? parsed.zone;
  const clock = findClock(zone);
  if (clock === undefined) {
    const message = `invalid timeZone: ${JSON.stringify(zone)}: unknown time zone ${zone}`;
    return { problem: warning('UnknownTimeZone', message) };
  }
  const next = (afterMs: number) => nextTime(parsed.schedule, clock, afterMs);
  const { schedule: times } = parsed;
  const every = 'everySeconds' in times ? { everyMs: times.everySeconds * 1000 } : {};
  if (parsed.zone === undefined) return { next, ...every };
  const message = `CRON_TZ or TZ used in schedule ${JSON.stringify(schedule)} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details`;
  return { next, ...every, advice: warning('UnsupportedSchedule', message) };
}

/** The clocks of a zone; without one, those of this process. Undefined where it is not known. */
export function findClock(zone: string | undefined): WallClock | undefined {
  try {
    return new WallClock(zone);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Wed, 01 Jan 2025 00:05:00 +0000` */
function formatRfc1123(atMs: number): string {
  const at = new Date(atMs);
  const day = String(at.getUTCDate()).padStart(2, '0');
  const date = `${weekdays[at.getUTCDay()]}, ${day} ${months[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
  return `${date} ${at.toISOString().slice(11, 19)} +0000`;
}
