import { isRecord } from '../../api/index.ts';
import { field, int32, string, struct } from '../../api/schema/index.ts';
import type { CheckpointSettings, DiskReserve } from '../checkpoint/index.ts';
import { readQuantity } from './amounts.ts';
import { encryptionOf, encryptionSection } from './encryption-section.ts';
import { retentionOf, retentionSection } from './retention-section.ts';

/*
 * The section `checkpoint`, the one field that the reference's KubeletConfiguration does not have. All that is this
 * agent's own about checkpoints stands below it, so that a later field of the reference cannot mean something else.
 * A field is added in four places, all here: the description, its default, its rule, and what it comes to.
 */
export const checkpointSection = struct('NodewardCheckpointConfiguration', {
  maxConcurrent: field(1, int32, 'How many containers of the node are checkpointed at a time.'),
  maxWaiting: field(2, int32, 'How many requests may wait for their turn.'),
  onConflict: field(3, string, 'Wait or Refuse: a request for a container that is being checkpointed.'),
  diskReserve: field(4, string, 'What must stay free on the disks, as an amount or a percentage.'),
  retention: field(5, retentionSection, 'What is kept of old checkpoints; all where it is not stated.'),
  encryption: field(
    6,
    encryptionSection,
    'For whom archives are sealed; they are plain where it is not stated.',
  ),
});

export const checkpointDefaults = {
  maxConcurrent: 2,
  maxWaiting: 100,
  onConflict: 'Wait',
  diskReserve: '5%',
} as const;

type Rule = (value: unknown) => string | undefined;

/** Undefined, or what is wrong with the value of that field. */
export const checkpointRules: Readonly<Record<keyof typeof checkpointDefaults, Rule>> = {
  maxConcurrent: between(1, 1000),
  maxWaiting: between(0, 100_000),
  onConflict: (value) =>
    value === 'Wait' || value === 'Refuse'
      ? undefined
      : `${JSON.stringify(value)} is not one of Wait, Refuse`,
  diskReserve: (value) =>
    readReserve(String(value)) === undefined
      ? `must be an amount from 0 on, such as 1Gi, or a percentage, not ${JSON.stringify(value)}`
      : undefined,
};

/** What the merged and validated section comes to; `recipientsFile` with its path made absolute. */
export function checkpointSettings(section: unknown, recipientsFile = ''): CheckpointSettings {
  const stated = isRecord(section) ? section : {};
  const value = (name: keyof typeof checkpointDefaults): unknown => stated[name] ?? checkpointDefaults[name];
  return Object.freeze({
    maxConcurrent: Number(value('maxConcurrent')),
    maxWaiting: Number(value('maxWaiting')),
    onConflict: value('onConflict') === 'Refuse' ? 'Refuse' : 'Wait',
    diskReserve: readReserve(String(value('diskReserve'))) ?? { bytes: 0 },
    retention: retentionOf(stated['retention']),
    encryption: encryptionOf(stated['encryption'], recipientsFile),
  });
}

function readReserve(text: string): DiskReserve | undefined {
  if (text.endsWith('%')) {
    const percent = /^\d{1,2}(?:\.\d{1,9})?%$/.test(text) ? Number(text.slice(0, -1)) : undefined;
    if (percent === 0) return { bytes: 0 };
    return percent === undefined ? undefined : { share: percent / 100 };
  }
  const amount = readQuantity(text);
  return amount === undefined || amount < 0 ? undefined : { bytes: Math.ceil(amount) };
}

function between(least: number, most: number): Rule {
  return (value) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : `must be from ${least} to ${most}, not ${String(value)}`;
}
