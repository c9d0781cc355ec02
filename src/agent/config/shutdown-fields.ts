import { field, int32, int64, struct } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import { criticalPriority } from '../pods/admission/index.ts';
import type { ShutdownPeriod } from '../shutdown/index.ts';
import type { Fields, Settings } from './field.ts';
import { duration, list, maxTimer, recordOf } from './field-types.ts';
import type { Located, LocatedMap } from './located.ts';
import { toPlain } from './located.ts';
import type { Problem } from './problems.ts';

/* How long a shutdown of the machine waits for pods. The names and defaults are the reference's. */

const periodOfPriority = struct('ShutdownGracePeriodByPodPriority', {
  priority: field(1, int32, 'Least priority of the pods.'),
  shutdownGracePeriodSeconds: field(2, int64, 'Their time to end.'),
});

export const shutdownFields = {
  shutdownGracePeriod: duration('wholeMs', ['0s', maxTimer], {
    doc: 'How long a shutdown of the machine waits for its pods to end ([nodes.md](nodes.md#shutdown-of-the-machine)); they end when logind announces it. 0s: it does not wait.',
    range: '0s, or 1s or longer',
    default: '0s',
    keepsZero: true,
  }),
  shutdownGracePeriodCriticalPods: duration('criticalMs', ['0s', maxTimer], {
    doc: 'The last part of that time, which critical pods have alone: those with a priority from 2000000000 on, and static pods.',
    range: '0s, or 1s or longer, at most `shutdownGracePeriod`',
    default: '0s',
    keepsZero: true,
  }),
  shutdownGracePeriodByPodPriority: list(periodOfPriority, readPeriods, {
    doc: 'In place of the two, which may not stand beside it: groups of pods by their priority, which end one after the other, the lowest first. A group has the pods from its priority on up to that of the next; the first also those below it.',
    range: '`priority` and `shutdownGracePeriodSeconds` of each',
    example:
      '[{priority: 0, shutdownGracePeriodSeconds: 60}, {priority: 10000, shutdownGracePeriodSeconds: 20}]',
  }),
} as const satisfies Fields;

function readPeriods(items: readonly unknown[]): readonly ShutdownPeriod[] {
  return items.map(recordOf).map(({ priority = 0, shutdownGracePeriodSeconds = 0 }) => ({
    priority: Number(priority),
    graceSeconds: Number(shutdownGracePeriodSeconds),
  }));
}

/** The groups in which pods end; none, or only such without time: a shutdown does not wait. */
export function toShutdownPeriods(values: Settings<typeof shutdownFields>): readonly ShutdownPeriod[] {
  const { shutdownGracePeriodByPodPriority: byPriority, wholeMs, criticalMs } = values;
  if (byPriority.length > 0) return byPriority;
  return [
    { priority: 0, graceSeconds: (wholeMs - criticalMs) / 1000 },
    { priority: criticalPriority, graceSeconds: criticalMs / 1000 },
  ];
}

/** The part for critical pods is a part of the whole; each is off or at least a second, as in the reference. */
export function checkShutdownPeriods(merged: LocatedMap): Problem[] {
  const [whole, critical] = ['shutdownGracePeriod', 'shutdownGracePeriodCriticalPods'].map((path) => {
    const value = merged.entries.get(path)?.value;
    const text = value === undefined ? '0s' : String(toPlain(value));
    return { path, at: value?.at, text, ms: durationMs(text) };
  });
  if (whole === undefined || critical === undefined) return [];
  const complaints = [whole, critical].flatMap(({ path, at, text, ms }) =>
    ms <= 0 || ms >= 1000 ? [] : [{ at, path, message: `must be 0s or at least 1s, not ${text}` }],
  );
  if (critical.ms > whole.ms) {
    const message = `must be at most shutdownGracePeriod, ${whole.text}, not ${critical.text}`;
    complaints.push({ at: critical.at, path: critical.path, message });
  }
  return [
    ...complaints.map(({ at, ...problem }) => ({ ...(at === undefined ? {} : { at }), ...problem })),
    ...checkGroups(merged),
  ];
}

const groupsField = 'shutdownGracePeriodByPodPriority';

function checkGroups(merged: LocatedMap): Problem[] {
  const groups = merged.entries.get(groupsField)?.value;
  if (groups?.type !== 'list' || groups.items.length === 0) return [];
  const whole = durationMs(String(plainOf(merged, 'shutdownGracePeriod') ?? '0s'));
  const message = `cannot be beside shutdownGracePeriod: leave out one of the two`;
  return [
    ...(whole === 0 ? [] : [{ at: groups.at, path: groupsField, message }]),
    ...findGroupFaults(groups.items),
  ];
}

function plainOf(merged: LocatedMap, name: string): unknown {
  const entry = merged.entries.get(name);
  return entry && toPlain(entry.value);
}

const maxGroupSeconds = durationMs(maxTimer) / 1000;

function findGroupFaults(items: readonly Located[]): Problem[] {
  const before = new Set<number>();
  return items.flatMap((item, index): Problem[] => {
    const path = `${groupsField}[${index}]`;
    const [{ priority, graceSeconds } = { priority: 0, graceSeconds: 0 }] = readPeriods([toPlain(item)]);
    const isRepeated = before.has(priority);
    before.add(priority);
    if (isRepeated) return [{ at: item.at, path, message: `has the priority of one before, ${priority}` }];
    return graceSeconds >= 0 && graceSeconds <= maxGroupSeconds
      ? []
      : [
          {
            at: item.at,
            path: `${path}.shutdownGracePeriodSeconds`,
            message: `must be from 0 to ${maxGroupSeconds}, not ${graceSeconds}`,
          },
        ];
  });
}
