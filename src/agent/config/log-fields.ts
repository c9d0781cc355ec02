import type { Fields, Settings } from './field.ts';
import { duration, integer, maxTimer, path, quote, readQuantity, text } from './field-types.ts';

/** The logs of containers. The names are the reference's. */
export const logFields = {
  podLogsDir: path({
    doc: 'The folder of the logs of pods: NAMESPACE_NAME_UID/CONTAINER/ATTEMPT.log below it. Another one than `/var/log/pods` is hidden from collectors of logs that know only that.',
    default: '/var/log/pods',
    range: 'a path of printable ASCII characters',
    needsRestart: true,
    check: checkLogsDir,
  }),
  containerLogMaxSize: text({
    doc: 'How large the log of a container becomes before it is rotated. A negative amount: it is never rotated.',
    default: '10Mi',
    range: 'an amount',
    check: (plain) => {
      const amount = readQuantity(plain);
      return amount === undefined || amount === 0
        ? `must be an amount, such as 10Mi, not ${quote(plain)}`
        : undefined;
    },
  }),
  containerLogMaxFiles: integer(2, 10_000, {
    doc: 'How many logs of one container are kept, the current one included. All but the newest two are compressed.',
    default: 5,
  }),
  containerLogMaxWorkers: integer(1, 100, {
    doc: 'How many rotated logs are compressed at a time.',
    default: 1,
  }),
  containerLogMonitorInterval: duration('intervalMs', ['3s', maxTimer], {
    doc: 'How often the size of a log is looked at that does not grow. One that grows is looked at before it can have reached its limit.',
    default: '10s',
  }),
} as const satisfies Fields;

/** As in the reference, whose logs many programs read by patterns of ASCII. */
function checkLogsDir(plain: unknown): string | undefined {
  const folder = String(plain);
  if (folder === '/' || /^\/?\.{1,2}\//.test(folder)) return `${quote(folder)} cannot be the folder of logs`;
  return /^[\x20-\x7e]+$/.test(folder)
    ? undefined
    : `${quote(folder)} has characters that are not printable ASCII`;
}

export interface LogSettings {
  /** Absolute. */
  readonly folder: string;
  /** Infinity: logs are not rotated. */
  readonly maxBytes: number;
  /** The current one included. */
  readonly maxFiles: number;
  readonly workers: number;
  readonly intervalMs: number;
}

export function toLogSettings(values: Settings<typeof logFields>): LogSettings {
  const maxBytes = Math.ceil(readQuantity(values.containerLogMaxSize) ?? 0);
  return Object.freeze({
    folder: values.podLogsDir,
    maxBytes: maxBytes < 0 ? Number.POSITIVE_INFINITY : maxBytes,
    maxFiles: values.containerLogMaxFiles,
    workers: values.containerLogMaxWorkers,
    intervalMs: values.intervalMs,
  });
}
