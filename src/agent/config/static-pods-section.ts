import { duration, field, string } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';

/*
 * What the configuration says of static pods (specification, section 2.6); the names are the reference's.
 */
export const staticPodFields = {
  staticPodPath: field(60, string, 'The folder of manifests of static pods; empty: none.'),
  fileCheckFrequency: field(61, duration, 'How often that folder is looked at though nothing was heard.'),
} as const;

export const staticPodDefaults = {
  staticPodPath: '/etc/nodeward/manifests',
  fileCheckFrequency: '20s',
} as const;

const maxMs = 24 * 3_600_000;

export const staticPodRules = {
  fileCheckFrequency: (value: unknown) => {
    const ms = durationMs(String(value));
    return ms >= 100 && ms <= maxMs ? undefined : `must be from 100ms to 24h, not ${String(value)}`;
  },
} as const;

export interface StaticPodSettings {
  /** Absolute; empty: there are no static pods. */
  readonly folder: string;
  /** It is not the default, which may be missing without a word. */
  readonly isStated: boolean;
  /** The folder is looked at anyway after so long. */
  readonly rescanMs: number;
}

/** What the merged and validated fields come to; `folder` is staticPodPath as an absolute path. */
export function staticPodSettings(folder: string, frequency: string): StaticPodSettings {
  const isStated = folder !== staticPodDefaults.staticPodPath;
  return Object.freeze({ folder, isStated, rescanMs: durationMs(frequency) });
}
