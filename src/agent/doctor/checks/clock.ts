import { shownTime } from '../amounts.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { ok, unknown, warning } from '../types.ts';

export const clockChecks: readonly Check[] = [
  {
    id: 'clock-synchronised',
    topic: 'clock',
    title: 'clock kept right',
    needed: 'by a time service: certificates and times of heartbeats depend on it',
    run: synchronised,
  },
  {
    id: 'clock-hardware',
    topic: 'clock',
    title: 'clock of the hardware',
    needed: 'within a minute of the system’s',
    fast: true,
    run: hardware,
  },
  {
    id: 'suspended',
    topic: 'clock',
    title: 'suspends since the boot',
    needed: 'none: a suspended node is silent and loses its pods',
    fast: true,
    run: suspended,
  },
];

/** Each tells what it says, or undefined where it is not there or says nothing. */
const sources: readonly ((host: Host, signal: AbortSignal) => Promise<Said | undefined>)[] = [
  timesyncd,
  chrony,
  timedatectl,
  ntpd,
];

interface Said {
  readonly inSync: boolean;
  readonly text: string;
}

async function synchronised(host: Host, signal: AbortSignal): Promise<Finding> {
  for (const source of sources) {
    const said = await source(host, signal);
    if (said?.inSync) return ok(said.text);
    if (said !== undefined)
      return warning(said.text, 'start a time service that reaches its servers: systemd-timesyncd or chrony');
  }
  return unknown(
    'no time service that can be asked was found',
    'install one (systemd-timesyncd, chrony), unless the hypervisor keeps the clock right',
  );
}

/** It touches a file each time it has set the clock. */
async function timesyncd(host: Host, signal: AbortSignal): Promise<Said | undefined> {
  const looked = await host.look({ path: '/run/systemd/timesync/synchronized' }, signal);
  if (!('found' in looked)) return undefined;
  const age = shownTime(host.clock.now() - looked.found.mtimeMs);
  return { inSync: true, text: `systemd-timesyncd has set it ${age} ago` };
}

async function chrony(host: Host, signal: AbortSignal): Promise<Said | undefined> {
  const ran = await host.exec('chronyc', ['-n', 'tracking'], signal);
  const status = /^Leap status\s*:\s*(.+)$/m.exec(ran?.output ?? '')?.[1]?.trim();
  if (status === undefined) return undefined;
  const offset = /^System time\s*:\s*([\d.]+) seconds/m.exec(ran?.output ?? '')?.[1];
  const text = `chrony says ${status}${offset === undefined ? '' : `, off by ${Number(offset).toFixed(6)} s`}`;
  return { inSync: !/not synchronised/i.test(status), text };
}

/** What the kernel was told, whoever told it. */
async function timedatectl(host: Host, signal: AbortSignal): Promise<Said | undefined> {
  const ran = await host.exec('timedatectl', ['show', '--property=NTPSynchronized', '--value'], signal);
  const answer = ran?.code === 0 ? ran.output.trim() : '';
  if (answer === 'yes') return { inSync: true, text: 'the kernel says that it is in sync' };
  return answer === 'no' ? { inSync: false, text: 'the kernel says that it is not in sync' } : undefined;
}

async function ntpd(host: Host, signal: AbortSignal): Promise<Said | undefined> {
  const ran = await host.exec('ntpq', ['-n', '-c', 'rv 0 leap,offset'], signal);
  const leap = /leap=(\d\d)/.exec(ran?.output ?? '')?.[1];
  if (ran?.code !== 0 || leap === undefined) return undefined;
  return leap === '11'
    ? { inSync: false, text: 'ntpd has not set it yet' }
    : { inSync: true, text: 'ntpd keeps it' };
}

const minuteMs = 60_000;
const quarterHourMs = 15 * minuteMs;

/** A clock that was set by hand or jumped since the boot differs from that of the hardware, which nobody else sets. */
function hardware(host: Host): Finding {
  const seconds = host.read('/sys/class/rtc/rtc0/since_epoch')?.trim();
  if (seconds === undefined || !/^\d+$/.test(seconds))
    return unknown('this machine has none that can be read');
  const apartMs = host.clock.now() - Number(seconds) * 1000;
  // it may keep local time, which is whole quarters of an hour away, at most 14 hours
  const zoneMs = Math.round(apartMs / quarterHourMs) * quarterHourMs;
  const restMs = Math.abs(zoneMs) <= 14 * 60 * minuteMs ? apartMs - zoneMs : apartMs;
  const found = `${shownTime(restMs)} apart${restMs === apartMs ? '' : `, kept in local time (${shownTime(zoneMs)} away)`}`;
  if (Math.abs(restMs) <= minuteMs) return ok(found);
  return warning(
    found,
    'find out which is right, set the system’s clock, and write it back: hwclock --systohc',
  );
}

/** /proc/uptime counts the time of suspends too, CLOCK_MONOTONIC does not. */
function suspended(host: Host): Finding {
  const uptime = Number(host.read('/proc/uptime')?.split(' ')[0]);
  if (!(uptime > 0)) return unknown('/proc/uptime cannot be read');
  const asleepMs = uptime * 1000 - host.awakeMs();
  const since = `up for ${shownTime(uptime * 1000)}`;
  if (asleepMs < 2000) return ok(`none, ${since}`);
  return warning(
    `suspended for ${shownTime(asleepMs)} in all, ${since}`,
    'keep it awake: systemctl mask sleep.target suspend.target hibernate.target, or do not pause the virtual machine',
  );
}
