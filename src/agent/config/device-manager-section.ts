import { isAbsolute } from 'node:path';
import { isRecord } from '../../api/index.ts';
import { bool, duration, field, string, struct } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';

/*
 * The section `deviceManager`, which the reference's KubeletConfiguration does not have: what is this agent's own about
 * device plugins. A field is added in four places, all here: the description, its default, its rule, and what it comes to.
 */
export const deviceManagerSection = struct('NodewardDeviceManagerConfiguration', {
  kubeletPaths: field(1, bool, "Whether plugins are also served at the reference's own paths."),
  kubeletDir: field(2, string, "The reference's folder, below which those paths are."),
  gracePeriod: field(3, duration, 'How long the devices of a plugin that has left stay in the capacity.'),
});

export const deviceManagerDefaults = {
  kubeletPaths: false,
  kubeletDir: '/var/lib/kubelet',
  gracePeriod: '5m',
} as const;

export interface DeviceManagerSettings {
  readonly kubeletPaths: boolean;
  /** Absolute. */
  readonly kubeletDir: string;
  readonly graceMs: number;
}

type Rule = (value: unknown) => string | undefined;

/** The longest name below it that must fit into the path of a socket, with its slash. */
const longestBelow = '/device-plugins/kubelet.sock'.length;
const socketPathLimit = 107;
const maxMs = 24 * 3_600_000;

/** Undefined, or what is wrong with the value of that field. */
export const deviceManagerRules: Readonly<Partial<Record<keyof typeof deviceManagerDefaults, Rule>>> = {
  kubeletDir: (value) => {
    const path = String(value);
    if (!isAbsolute(path)) return `${JSON.stringify(value)} is no absolute path`;
    return Buffer.byteLength(path) + longestBelow <= socketPathLimit
      ? undefined
      : `must have at most ${socketPathLimit - longestBelow} bytes: sockets are made below it`;
  },
  gracePeriod: (value) => {
    const ms = durationMs(String(value));
    return ms >= 0 && ms <= maxMs ? undefined : `must be from 0s to 24h, not ${String(value)}`;
  },
};

/** What the merged and validated section comes to. */
export function deviceManagerSettings(section: unknown): DeviceManagerSettings {
  const stated = isRecord(section) ? section : {};
  const value = (name: keyof typeof deviceManagerDefaults): unknown =>
    stated[name] ?? deviceManagerDefaults[name];
  return Object.freeze({
    kubeletPaths: value('kubeletPaths') === true,
    kubeletDir: String(value('kubeletDir')),
    graceMs: durationMs(String(value('gracePeriod'))),
  });
}
