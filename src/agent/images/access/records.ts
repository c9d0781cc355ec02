import { createHash } from 'node:crypto';
import { isRecord } from '../../../base/index.ts';
import type { Credential } from '../credentials/types.ts';

/** With which credentials an image was pulled from one repository. */
export interface RepositoryRecord {
  /** It needed none, or those of the node: every pod may use it. */
  readonly isOpen: boolean;
  /** Digests of those of pods. */
  readonly credentials: readonly string[];
}

/** What the agent has pulled, as its file keeps it. */
export interface PullRecords {
  /** By the id of the image, then by repository. */
  readonly images: Readonly<Record<string, Readonly<Record<string, RepositoryRecord>>>>;
  /** Names of images that are being pulled: one that is there after a crash came from such a pull. */
  readonly pulling: readonly string[];
}

export const noRecords: PullRecords = { images: {}, pulling: [] };

/** For each image and repository; the oldest are forgotten, and their pods ask the registry again. */
const maxCredentials = 100;

export function digestOf({ username, password }: Credential): string {
  return createHash('sha256')
    .update(JSON.stringify([username, password]))
    .digest('hex');
}

/** The records with one more pull; `credential` is what opened the repository. */
export function withPull(
  records: PullRecords,
  { id, repository, credential }: { id: string; repository: string; credential: Credential | undefined },
): PullRecords {
  const ofImage = records.images[id] ?? {};
  const { isOpen, credentials } = ofImage[repository] ?? { isOpen: false, credentials: [] };
  const digests = credential === undefined || credential.isOfNode ? [] : [digestOf(credential)];
  const record = {
    isOpen: isOpen || digests.length === 0,
    credentials: [...new Set([...digests, ...credentials])].slice(0, maxCredentials),
  };
  return { ...records, images: { ...records.images, [id]: { ...ofImage, [repository]: record } } };
}

/** Throws an Error when the members are no records. */
export function parseRecords(members: Readonly<Record<string, unknown>>): PullRecords {
  const { images, pulling } = members;
  if (!isRecord(images) || !isTexts(pulling)) throw new Error('it must have images and pulling');
  const parsed = Object.entries(images).map(([id, repositories]) => [id, parseRepositories(repositories)]);
  return { images: Object.fromEntries(parsed), pulling };
}

function parseRepositories(value: unknown): Record<string, RepositoryRecord> {
  if (!isRecord(value)) throw new Error('an image must have repositories');
  const parsed = Object.entries(value).map(([repository, record]) => {
    const { isOpen, credentials } = isRecord(record) ? record : {};
    if (typeof isOpen !== 'boolean' || !isTexts(credentials)) throw new Error(`${repository} has no record`);
    return [repository, { isOpen, credentials }];
  });
  return Object.fromEntries(parsed);
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
