import type { Pod } from '../../../api/index.ts';
import { describeError } from '../../../base/index.ts';
import { listContainers, namespaceOf } from '../../downward/index.ts';
import type { FileContent } from '../atomic/payload.ts';
import { downwardFiles } from './downward-files.ts';
import type { Collected } from './made-of-files.ts';
import { madeOfFiles } from './made-of-files.ts';
import { configMapFiles, secretFiles, usualMode } from './object-files.ts';
import { groupOf } from './pod-folder.ts';
import { trustAnchorFile } from './trust-anchor-file.ts';
import type { PodVolume, Volume, VolumeTools } from './types.ts';
import { FinalVolumeError, VolumePendingError } from './types.ts';

type Source = NonNullable<NonNullable<Volume['projected']>['sources']>[number];
type TokenSource = NonNullable<Source['serviceAccountToken']>;

/** Several sources in one folder, in memory. Of two at the same path the later one counts. */
export const projected = madeOfFiles({
  plugin: 'kubernetes.io~projected',
  isInMemory: true,
  async collect(volume, tools, signal) {
    const { sources = [] } = volume.source.projected ?? {};
    const faults: unknown[] = [];
    const collected: Collected[] = [];
    for (const source of sources) {
      try {
        collected.push(await collectOne(source, volume, tools, signal));
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw join(faults);
    return {
      files: new Map(collected.flatMap(({ files }) => [...files])),
      sources: collected.flatMap((each) => each.sources),
      objects: collected.flatMap(({ objects = [] }) => objects),
      renewMs: earliest(collected.map(({ renewMs }) => renewMs)),
    };
  },
});

async function collectOne(
  source: Source,
  { pod, source: volume }: PodVolume,
  tools: VolumeTools,
  signal: AbortSignal,
): Promise<Collected> {
  const { defaultMode } = volume.projected ?? {};
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = source;
  const namespace = namespaceOf(pod);
  if (configMap !== undefined)
    return configMapFiles(namespace, { ...configMap, name: configMap.name ?? '' }, defaultMode, tools);
  if (secret !== undefined)
    return secretFiles(namespace, { ...secret, name: secret.name ?? '' }, defaultMode, tools);
  if (downwardAPI !== undefined)
    return downwardFiles(pod, downwardAPI.items ?? [], defaultMode, tools.downward(pod));
  if (serviceAccountToken !== undefined)
    return await tokenFile(pod, serviceAccountToken, defaultMode, tools, signal);
  if (clusterTrustBundle !== undefined)
    return trustAnchorFile(clusterTrustBundle, accessOf(pod, defaultMode), tools);
  const [kind] = Object.keys(source);
  if (kind === undefined) return { files: new Map(), sources: [] };
  throw new FinalVolumeError(`this agent does not mount sources of the kind ${kind} in projected volumes`);
}

async function tokenFile(
  pod: Pod,
  { audience = '', expirationSeconds, path }: TokenSource,
  defaultMode: number | undefined,
  { tokens, clock }: VolumeTools,
  signal: AbortSignal,
): Promise<Collected> {
  const question = { audience, expirationSeconds: Number(expirationSeconds ?? 3600) };
  const { token, renewMs } = await tokens.get(pod, question, signal);
  const name = audience === '' ? 'a token' : `a token for ${audience}`;
  return {
    files: new Map([[path, { ...accessOf(pod, defaultMode), bytes: Buffer.from(token, 'utf8') }]]),
    sources: [name],
    // the old one is good for a while where there is no new one yet: that is asked for again
    renewMs: Math.max(renewMs, clock.now() + minRenewMs),
  };
}

const minRenewMs = 10_000;

/** Only the user of the containers may read the file, where they have one; with an fsGroup, that group too. */
function accessOf(pod: Pod, defaultMode: number = usualMode): Omit<FileContent, 'bytes'> {
  const uid = userOf(pod);
  return { uid, mode: uid === undefined && groupOf(pod) === undefined ? defaultMode : 0o600 };
}

/** The user that all containers run as; undefined where they differ, or one does not say. */
export function userOf(pod: Pod): number | undefined {
  const users = new Set(
    listContainers(pod).map(({ securityContext }) => {
      const user = securityContext?.runAsUser ?? pod.spec?.securityContext?.runAsUser;
      return user === undefined ? undefined : Number(user);
    }),
  );
  const [user] = users;
  return users.size === 1 ? user : undefined;
}

/** What waits for an answer counts only where nothing else is wrong. */
function join(faults: readonly unknown[]): Error {
  const failed = faults.filter((each) => !(each instanceof VolumePendingError));
  const texts = [...new Set((failed.length > 0 ? failed : faults).map(describeError))];
  const [first = ''] = texts;
  const text = texts.length === 1 ? first : `[${texts.join(', ')}]`;
  if (failed.length === 0) return new VolumePendingError(text);
  const isFinal = failed.every((each) => each instanceof FinalVolumeError);
  return isFinal ? new FinalVolumeError(text) : new Error(text);
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
