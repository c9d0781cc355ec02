import { quantity, string } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import type { DiskReserve, RetentionLimits, RetentionSettings } from '../checkpoint/index.ts';
import { checkRecipient, retentionScopes } from '../checkpoint/index.ts';
import { section } from './field.ts';
import {
  choice,
  duration,
  integer,
  list,
  listOf,
  path,
  quote,
  readQuantity,
  recordOf,
  value,
} from './field-types.ts';
import type { Located } from './located.ts';
import { toPlain } from './located.ts';

/*
 * The section `checkpoint`, which the reference's KubeletConfiguration does not have. All settings of checkpoints stand
 * below it, so that a later field of the reference cannot mean something else.
 */

function readReserve(plain: unknown): DiskReserve | undefined {
  const stated = String(plain);
  if (stated.endsWith('%')) {
    const percent = /^\d{1,2}(?:\.\d{1,9})?%$/.test(stated) ? Number(stated.slice(0, -1)) : undefined;
    if (percent === 0) return { bytes: 0 };
    return percent === undefined ? undefined : { share: percent / 100 };
  }
  const amount = readQuantity(stated);
  return amount === undefined || amount < 0 ? undefined : { bytes: Math.ceil(amount) };
}

const maxCount = 1_000_000;

const limits = (doc: string) =>
  section({
    doc,
    check: checkCounts,
    fields: {
      maxCount: integer(1, maxCount, { doc: 'How many are kept.' }),
      maxBytes: value(quantity, readQuantity, {
        doc: 'How much they may take together.',
        range: 'an amount from 1 on',
        check: (plain) =>
          (readQuantity(plain) ?? 0) >= 1 ? undefined : `must be an amount from 1 on, not ${plain}`,
      }),
      maxAge: duration('maxAgeMs', ['1m'], { doc: 'How old they may become.' }),
      minCount: integer(0, maxCount, {
        doc: 'How many of the newest are kept whatever another limit says.',
      }),
    },
  });

function checkCounts(value: unknown): string | undefined {
  const { maxCount: max, minCount: min } = recordOf(value);
  if (typeof max !== 'number' || typeof min !== 'number' || min <= max) return undefined;
  return `minCount ${min} is more than maxCount ${max}`;
}

const retention = section({
  doc: 'What is kept of old checkpoints ([checkpoints.md](checkpoints.md)).',
  defaultInWords: 'all are kept',
  range:
    '`perContainer`, `perPod`, `perNamespace`, `node`, each with `maxCount`, `maxBytes`, `maxAge`, `minCount`',
  example: '{perContainer: {maxCount: 5, maxAge: 168h, minCount: 1}, node: {maxBytes: 100Gi}}',
  fields: {
    perContainer: limits('Limits for the checkpoints of each container of a pod.'),
    perPod: limits('Limits for those of all containers of a pod.'),
    perNamespace: limits('Limits for those of all pods of a namespace.'),
    node: limits('Limits for all checkpoints of the node.'),
  },
});

/** A limit that is not stated is absent; a scope that is not stated too. */
function readRetention(stated: unknown): RetentionSettings {
  const scopes = recordOf(stated);
  return Object.freeze(
    Object.fromEntries(
      retentionScopes.flatMap((scope) =>
        scopes[scope] === undefined ? [] : [[scope, readLimits(recordOf(scopes[scope]))]],
      ),
    ),
  );
}

function readLimits({
  maxCount: max,
  maxBytes,
  maxAge,
  minCount: min,
}: Record<string, unknown>): RetentionLimits {
  return Object.freeze({
    ...(typeof max === 'number' ? { maxCount: max } : {}),
    ...(maxBytes === undefined ? {} : { maxBytes: readQuantity(maxBytes) ?? 0 }),
    ...(maxAge === undefined ? {} : { maxAgeMs: durationMs(String(maxAge)) }),
    ...(typeof min === 'number' ? { minCount: min } : {}),
  });
}

const maxRecipients = 100;

const encryption = section({
  doc: 'For whom archives are encrypted: X25519 recipients of age, `age1…`, and a file with one of them a line. Without any, archives are plain ([checkpoints.md](checkpoints.md)).',
  fields: {
    recipients: list(string, (names): readonly string[] => Object.freeze(names.map(String)), {
      doc: 'X25519 recipients of age; each of them can decrypt every archive.',
      range: `at most ${maxRecipients} of \`age1…\``,
      check(plain) {
        const stated = listOf(plain);
        if (stated.length > maxRecipients)
          return `has ${stated.length} recipients, at most ${maxRecipients} can be`;
        for (const [index, each] of stated.entries()) {
          const problem = checkRecipient(String(each));
          if (problem !== undefined) return `[${index}]: ${problem}`;
        }
        return undefined;
      },
    }),
    recipientsFile: path({ doc: 'A file with more of them, one a line.' }),
  },
});

export const checkpointSection = section({
  doc: 'Checkpoints of containers ([checkpoints.md](checkpoints.md)). The reference has no such section, so keep it in a drop-in where the reference reads this file too.',
  keepsZero: true,
  fields: {
    maxConcurrent: integer(1, 1000, {
      doc: 'How many containers of the node are checkpointed at a time.',
      default: 2,
    }),
    maxWaiting: integer(0, 100_000, { doc: 'How many requests may wait for that.', default: 100 }),
    onConflict: choice(['Wait', 'Refuse'], {
      doc: 'What becomes of a request for a container that is being checkpointed already: it waits, or is refused with 409.',
      default: 'Wait',
    }),
    diskReserve: value(string, (plain) => readReserve(plain) ?? { bytes: 0 }, {
      doc: 'What a checkpoint must leave free on each file system that it needs, as an amount or a percentage.',
      default: '5%',
      range: 'an amount, or a percentage below 100%',
      check: (plain) =>
        readReserve(plain) === undefined
          ? `must be an amount from 0 on, such as 1Gi, or a percentage, not ${quote(plain)}`
          : undefined,
    }),
    retention: {
      ...retention,
      read: (stated: Located | undefined) => readRetention(stated && toPlain(stated)),
    },
    encryption,
  },
});
