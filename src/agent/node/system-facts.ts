import { release } from 'node:os';
import type { Clock, Logger } from '../../base/index.ts';
import { describeError, errorCode, readRegularFile, withDeadline } from '../../base/index.ts';

/** Facts that do not change while the agent runs. Empty where the system does not provide them. */
export interface SystemFacts {
  readonly machineID: string;
  readonly systemUUID: string;
  readonly bootID: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly operatingSystem: string;
  /** In the names of Go: `amd64`, `arm64` … */
  readonly architecture: string;
}

export interface FactsOptions {
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** Where the system's files are; default `/`. */
  rootDir?: string;
  /** Provides what the files do not have; default the library systeminformation, loaded then. */
  survey?: () => Promise<Survey>;
}

/** The result of a wider search of the system; empty where it finds nothing. */
export interface Survey {
  systemUUID: string;
  machineID: string;
  osImage: string;
}

const surveyTimeoutMs = 3000;
const nothing: Survey = { systemUUID: '', machineID: '', osImage: '' };

/**
 * Collects the facts from the system's files, and from a wider search where the files leave something open that it could
 * find. Takes a bounded time, and rejects only when `signal` aborts.
 */
export async function collectFacts(options: FactsOptions): Promise<SystemFacts> {
  const { rootDir = '/' } = options;
  const [machine, firmware, boot, image] = await Promise.all([
    readFirst(rootDir, ['etc/machine-id', 'var/lib/dbus/machine-id']),
    firmwareUuid(rootDir),
    readFirst(rootDir, ['proc/sys/kernel/random/boot_id']),
    readOsImage(rootDir),
  ]);
  const machineID = machine === 'uninitialized' ? '' : machine;
  const open = machineID === '' || image === '' || firmware === 'unsaid';
  const found = open ? await search(options) : nothing;
  const knownMachine = machineID || found.machineID;
  return {
    machineID: knownMachine,
    systemUUID: (typeof firmware === 'object' ? firmware.uuid : found.systemUUID) || knownMachine,
    bootID: boot,
    kernelVersion: release(),
    osImage: image || found.osImage || 'Linux',
    operatingSystem: process.platform,
    architecture: architectureName(process.arch),
  };
}

async function search(options: FactsOptions): Promise<Survey> {
  const { clock, log, signal, survey = surveyByLibrary } = options;
  try {
    return await withDeadline({ clock, timeoutMs: surveyTimeoutMs, signal }, 'the search for facts', survey);
  } catch (error) {
    signal.throwIfAborted();
    log.warn(`some facts of the machine stay unknown: ${describeError(error)}`);
    return nothing;
  }
}

/** Loaded here only: the library costs 12 MB, and most machines never need it. */
async function surveyByLibrary(): Promise<Survey> {
  const { default: information } = await import('systeminformation');
  const [machine, os] = await Promise.all([information.system(), information.osInfo()]);
  return {
    systemUUID: cleanUuid(machine.uuid),
    machineID: /^[0-9a-f]{32}$/.test(os.serial) ? os.serial : '',
    osImage: [os.distro, os.release].filter((part) => part && part !== 'unknown').join(' '),
  };
}

const factLimitBytes = 16 * 1024;

async function readText(path: string): Promise<string> {
  const content = await readRegularFile(path, { limitBytes: factLimitBytes });
  return content.toString('utf8').replaceAll('\0', '').trim();
}

async function readFirst(rootDir: string, names: readonly string[]): Promise<string> {
  for (const name of names) {
    const text = await readText(`${rootDir}/${name}`).catch(() => '');
    if (text !== '') return text;
  }
  return '';
}

/**
 * The UUID that the firmware reports. `denied`: there is one, for root only. `none`: there is no firmware that
 * could have one. `unsaid`: there is firmware, yet not in the usual file.
 */
async function firmwareUuid(rootDir: string): Promise<{ uuid: string } | 'denied' | 'none' | 'unsaid'> {
  const names = [
    'sys/class/dmi/id/product_uuid',
    'proc/device-tree/system-id',
    'proc/device-tree/vm,uuid',
    'etc/vmid',
  ];
  let denied = false;
  for (const name of names) {
    try {
      const uuid = cleanUuid(await readText(`${rootDir}/${name}`));
      if (uuid !== '') return { uuid };
    } catch (error) {
      denied ||= errorCode(error) === 'EACCES' || errorCode(error) === 'EPERM';
    }
  }
  if (denied) return 'denied';
  const firmware = await Promise.all([
    readFirst(rootDir, ['sys/class/dmi/id/modalias']),
    readFirst(rootDir, ['proc/device-tree/model']),
  ]);
  return firmware.some((text) => text !== '') ? 'unsaid' : 'none';
}

/** The firmware of some vendors has zeros or text instead. */
function cleanUuid(text: string): string {
  const uuid = text.toLowerCase();
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) && !/^[0-]+$/.test(uuid) ? uuid : '';
}

/** PRETTY_NAME of os-release(5), without its quotes. */
async function readOsImage(rootDir: string): Promise<string> {
  const text = await readFirst(rootDir, ['etc/os-release', 'usr/lib/os-release']);
  const value = /^PRETTY_NAME=(.*)$/m.exec(text)?.[1]?.trim() ?? '';
  const quoted = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
  return quoted.replace(/\\(["'$`\\])/g, '$1');
}

const architectures: Readonly<Record<string, string>> = {
  x64: 'amd64',
  ia32: '386',
  ppc64: 'ppc64le',
  mipsel: 'mipsle',
};

function architectureName(arch: string): string {
  return architectures[arch] ?? arch;
}
