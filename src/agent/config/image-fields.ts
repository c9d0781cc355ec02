import { int32 as schemaInt32, string as schemaString } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import type { AccessSettings, CollectionSettings, PullSettings } from '../images/index.ts';
import { verificationPolicies } from '../images/index.ts';
import type { Fields, Settings } from './field.ts';
import { bool, choice, duration, integer, list, maxTimer, textOf, value } from './field-types.ts';
import type { LocatedMap } from './located.ts';
import { toPlain } from './located.ts';
import type { Problem } from './problems.ts';

const maxCount = 2 ** 31 - 1;

const percentage = { range: '0 to 100', keepsZero: true, needsRestart: true } as const;

/** How images are pulled, and when those that no container has are removed; defaults as in the reference. */
export const imageFields = {
  serializeImagePulls: bool({
    doc: 'Whether images are pulled one at a time. Without it, `maxParallelImagePulls` above 1 says that they are not.',
    default: true,
    noDefaultBeside: 'maxParallelImagePulls',
    needsRestart: true,
  }),
  maxParallelImagePulls: value(schemaInt32, (plain) => (typeof plain === 'number' ? plain : undefined), {
    doc: 'How many images are pulled at once. It can be above 1 only without `serializeImagePulls`.',
    defaultInWords: '1, or without bound where `serializeImagePulls` is `false`',
    range: '1 or more',
    keepsZero: true,
    check: (plain) =>
      typeof plain === 'number' && plain >= 1 ? undefined : `must be at least 1, not ${String(plain)}`,
    needsRestart: true,
  }),
  registryPullQPS: integer(0, maxCount, {
    doc: 'How many pulls may start each second on average; one beyond that fails with `pull QPS exceeded` and is tried again later. 0: however many.',
    default: 5,
    keepsZero: true,
    needsRestart: true,
  }),
  registryBurst: integer(0, maxCount, {
    doc: 'How many pulls may start at once within `registryPullQPS`.',
    default: 10,
    needsRestart: true,
  }),
  imagePullCredentialsVerificationPolicy: choice(verificationPolicies, {
    doc: 'Which images on the node a pod may use only with credentials that opened them once: none; those that the agent has pulled; also those that came by other means, but for the list; all. A pod without them asks the registry, or fails with the policy Never.',
    default: 'NeverVerifyPreloadedImages',
    needsRestart: true,
  }),
  preloadedImagesVerificationAllowlist: list(
    schemaString,
    (items) => items.map(textOf).filter((each) => each !== ''),
    {
      doc: 'For `NeverVerifyAllowlistedImages`: repositories, with their registry and without tag or digest, whose images every pod may use if the agent has not pulled them. `/*` at the end stands for all below.',
      range: 'names of repositories',
      example: '[registry.example/team/*]',
      needsRestart: true,
    },
  ),
  imageMinimumGCAge: duration('minAgeMs', ['0s', maxTimer], {
    doc: 'How long an image stays on the node at least, before it may be removed to make room.',
    default: '2m',
    needsRestart: true,
  }),
  imageMaximumGCAge: duration('maxAgeMs', ['0s'], {
    doc: 'After how long without use an image is removed though there is room; it counts from the start of the agent on. 0s: never.',
    default: '0s',
    keepsZero: true,
    needsRestart: true,
  }),
  imageGCHighThresholdPercent: integer(0, 100, {
    ...percentage,
    doc: 'How full the file system of the images may be, in percent, before unused images are removed, the longest unused first. 100: none are.',
    default: 85,
  }),
  imageGCLowThresholdPercent: integer(0, 100, {
    ...percentage,
    doc: 'Down to how much unused images are then removed.',
    default: 80,
  }),
} as const satisfies Fields;

export interface ImageSettings {
  readonly pulls: PullSettings;
  readonly access: AccessSettings;
  readonly collection: CollectionSettings;
}

export function toImageSettings(fields: Settings<typeof imageFields>): ImageSettings {
  const { serializeImagePulls, maxParallelImagePulls = 1 } = fields;
  const isSerial = serializeImagePulls && maxParallelImagePulls < 2;
  return Object.freeze({
    pulls: Object.freeze({
      maxParallel: isSerial ? 1 : fields.maxParallelImagePulls,
      ratePerSecond: fields.registryPullQPS,
      burst: fields.registryBurst,
    }),
    access: Object.freeze({
      policy: fields.imagePullCredentialsVerificationPolicy,
      allowlist: Object.freeze(fields.preloadedImagesVerificationAllowlist),
    }),
    collection: Object.freeze({
      highPercent: fields.imageGCHighThresholdPercent,
      lowPercent: fields.imageGCLowThresholdPercent,
      minAgeMs: fields.minAgeMs,
      maxAgeMs: fields.maxAgeMs,
    }),
  });
}

/** Fields that contradict each other. */
export function checkImages(merged: LocatedMap): Problem[] {
  const found = (path: string) => {
    const stated = merged.entries.get(path)?.value;
    return { path, at: stated?.at, plain: stated && toPlain(stated) };
  };
  const complain = ({ path, at }: ReturnType<typeof found>, message: string): Problem[] => [
    { ...(at === undefined ? {} : { at }), path, message },
  ];
  const [serial, parallel] = [found('serializeImagePulls'), found('maxParallelImagePulls')];
  const [low, high] = [found('imageGCLowThresholdPercent'), found('imageGCHighThresholdPercent')];
  const [min, max] = [found('imageMinimumGCAge'), found('imageMaximumGCAge')];
  const { minAgeMs, maxAgeMs } = readAges(min.plain, max.plain);
  return [
    ...(serial.plain === true && Number(parallel.plain) > 1
      ? complain(parallel, 'cannot be larger than 1 unless serializeImagePulls is false')
      : []),
    ...(Number(low.plain) >= Number(high.plain)
      ? complain(low, `must be below imageGCHighThresholdPercent, ${high.plain}, not ${low.plain}`)
      : []),
    ...(maxAgeMs > 0 && maxAgeMs <= minAgeMs
      ? complain(max, `must be 0s or longer than imageMinimumGCAge, ${min.plain}, not ${max.plain}`)
      : []),
  ];
}

function readAges(min: unknown, max: unknown): { minAgeMs: number; maxAgeMs: number } {
  return { minAgeMs: durationMs(String(min ?? '0s')), maxAgeMs: durationMs(String(max ?? '0s')) };
}
