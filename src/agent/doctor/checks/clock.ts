import { formatDuration } from '../format.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { ok, unknown, warning } from '../types.ts';

export const clockChecks: readonly Check[] = [
  {
    id: 'clock-synchronised',
    topic: 'clock',
    title: 'clock kept right',
    needed: 'by a time service: certificates and times of heartbeats depend on it',
    run: judgeSynchronisation,
  },
  {
    id: 'clock-hardware',
    topic: 'clock',
    title: 'clock of the hardware',
    needed: 'within a minute of the system’s',
    fast: true,
    run: judgeHardwareClock,
  },
  {
    id: 'suspended',
    topic: 'clock',
    title: 'suspends since the boot',
    needed: 'none: a suspended node is silent and loses its pods',
    fast: true,
    run: judgeSuspends,
  },
];

/** Each returns what the time service reports; undefined where it is not there or reports nothing. */
const sources: readonly ((host: Host, signal: AbortSignal) => Promise<ClockReport | undefined>)[] = [
  readTimesyncd,
  readChrony,
  readTimedatectl,
  readNtpd,
];

interface ClockReport {
  readonly inSync: boolean;
  readonly text: string;
}

async function judgeSynchronisation(host: Host, signal: AbortSignal): Promise<Finding> {
  for (const source of sources) {
    const report = await source(host, signal);
    if (report?.inSync) return ok(report.text);
    if (report !== undefined)
      return warning(
        report.text,
        'start a time service that reaches its servers: systemd-timesyncd or chrony',
      );
  }
  return unknown(
    'no time service that can be asked was found',
    'install one (systemd-timesyncd, chrony), unless the hypervisor keeps the clock right',
  );
}

/** systemd-timesyncd touches this file each time it has set the clock. */
async function readTimesyncd(host: Host, signal: AbortSignal): Promise<ClockReport | undefined> {
  const looked = await host.inspectPath({ path: '/run/systemd/timesync/synchronized' }, signal);
  if (!('found' in looked)) return undefined;
  const age = formatDuration(host.clock.now() - looked.found.mtimeMs);
  return { inSync: true, text: `systemd-timesyncd has set it ${age} ago` };
}

async function readChrony(host: Host, signal: AbortSignal): Promise<ClockReport | undefined> {
  const ran = await host.exec('chronyc', ['-n', 'tracking'], signal);
  const status = /^Leap status\s*:\s*(.+)$/m.exec(ran?.output ?? '')?.[1]?.trim();
  if (status === undefined) return undefined;
  const offset = /^System time\s*:\s*([\d.]+) seconds/m.exec(ran?.output ?? '')?.[1];
  const text = `chrony says ${status}${offset === undefined ? '' : `, off by ${Number(offset).toFixed(6)} s`}`;
  return { inSync: !/not synchronised/i.test(status), text };
}

/** The kernel's own state, which any time service may have set. */
async function readTimedatectl(host: Host, signal: AbortSignal): Promise<ClockReport | undefined> {
  const ran = await host.exec('timedatectl', ['show', '--property=NTPSynchronized', '--value'], signal);
  const answer = ran?.code === 0 ? ran.output.trim() : '';
  if (answer === 'yes') return { inSync: true, text: 'the kernel says that it is in sync' };
  return answer === 'no' ? { inSync: false, text: 'the kernel says that it is not in sync' } : undefined;
}

async function readNtpd(host: Host, signal: AbortSignal): Promise<ClockReport | undefined> {
  const ran = await host.exec('ntpq', ['-n', '-c', 'rv 0 leap,offset'], signal);
  const leap = /leap=(\d\d)/.exec(ran?.output ?? '')?.[1];
  if (ran?.code !== 0 || leap === undefined) return undefined;
  return leap === '11'
    ? { inSync: false, text: 'ntpd has not set it yet' }
    : { inSync: true, text: 'ntpd keeps it' };
}

const minuteMs = 60_000;
const quarterHourMs = 15 * minuteMs;

/** A system clock that was set by hand, or has jumped since the boot, differs from the hardware clock. */
function judgeHardwareClock(host: Host): Finding {
  const seconds = host.read('/sys/class/rtc/rtc0/since_epoch')?.trim();
  if (seconds === undefined || !/^\d+$/.test(seconds))
    return unknown('this machine has none that can be read');
  const apartMs = host.clock.now() - Number(seconds) * 1000;
  // it may run on local time: at most 14 hours off, in steps of a quarter of an hour
  const zoneMs = Math.round(apartMs / quarterHourMs) * quarterHourMs;
  const restMs = Math.abs(zoneMs) <= 14 * 60 * minuteMs ? apartMs - zoneMs : apartMs;
  const found = `${formatDuration(restMs)} apart${restMs === apartMs ? '' : `, kept in local time (${formatDuration(zoneMs)} away)`}`;
  if (Math.abs(restMs) <= minuteMs) return ok(found);
  return warning(
    found,
    'find out which is right, set the system’s clock, and write it back: hwclock --systohc',
  );
}

/** /proc/uptime includes suspended time, CLOCK_MONOTONIC does not. */
function judgeSuspends(host: Host): Finding {
  const uptime = Number(host.read('/proc/uptime')?.split(' ')[0]);
  if (!(uptime > 0)) return unknown('/proc/uptime cannot be read');
  const asleepMs = uptime * 1000 - host.awakeMs();
  const since = `up for ${formatDuration(uptime * 1000)}`;
  if (asleepMs < 2000) return ok(`none, ${since}`);
  return warning(
    `suspended for ${formatDuration(asleepMs)} in all, ${since}`,
    'keep it awake: systemctl mask sleep.target suspend.target hibernate.target, or do not pause the virtual machine',
  );
}
