import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Node } from '../../../src/agent/plugins/csi/gen/csi_pb.js';
import type { Handlers } from '../../../src/base/grpc/index.ts';
import { GrpcError, grpcCodes } from '../../../src/base/grpc/index.ts';
import { say } from './behaviour.ts';

const run = promisify(execFile);

export interface VolumeOptions {
  /** Has a folder for each volume, by its handle. */
  readonly folder: string;
  /** A file with what calls do instead, as JSON by method: `hang`, `unavailable`, `kill`, `refuse`. Read at each call. */
  readonly answers: string;
}

/** Of capabilities: STAGE_UNSTAGE_VOLUME, GET_VOLUME_STATS, and EXPAND_VOLUME. */
const abilities = [1, 2, 3];
const inBytes = 1;

/**
 * A driver whose volumes are folders: staging and publishing are bind mounts, and the size of a volume is in its file `size`. Done
 * twice, each has the effect of once.
 */
export function folderVolumes({ folder, answers }: VolumeOptions): Handlers<typeof Node> {
  const begin = async (method: string, request: object, signal: AbortSignal, isBefore = true) => {
    if (isBefore) say(method, { ...request });
    const answer = readAnswer(answers, method);
    if (isBefore && answer === 'hang')
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    if (isBefore && answer === 'refuse') throw new GrpcError(grpcCodes.INTERNAL, 'refused by the test');
    if (!isBefore && answer === 'unavailable')
      throw new GrpcError(grpcCodes.UNAVAILABLE, 'done, and not told');
    if (!isBefore && answer === 'kill') process.kill(process.pid, 'SIGKILL');
  };
  return {
    nodeGetCapabilities: async () => ({
      capabilities: abilities.map((type) => ({ type: { case: 'rpc' as const, value: { type } } })),
    }),
    async nodeStageVolume({ volumeId, stagingTargetPath, secrets }, { signal }) {
      await begin('NodeStageVolume', { volumeId, stagingTargetPath, secrets }, signal);
      await mkdir(join(folder, volumeId), { recursive: true });
      await bind(join(folder, volumeId), stagingTargetPath);
      await begin('NodeStageVolume', {}, signal, false);
      return {};
    },
    async nodePublishVolume(request, { signal }) {
      const { volumeId, stagingTargetPath, targetPath, volumeContext, secrets, volumeCapability } = request;
      await begin('NodePublishVolume', { volumeId, targetPath, volumeContext, secrets }, signal);
      if (volumeCapability?.accessType.case === 'block') {
        await mkdir(dirname(targetPath), { recursive: true });
        await writeFile(targetPath, '', { flag: 'a' });
        await bind(readFileSync(join(folder, volumeId, 'device'), 'utf8').trim(), targetPath);
      } else {
        await mkdir(targetPath, { recursive: true });
        await mkdir(join(folder, volumeId), { recursive: true });
        await bind(stagingTargetPath || join(folder, volumeId), targetPath);
        const token = volumeContext['csi.storage.k8s.io/serviceAccount.tokens'];
        if (token !== undefined) await replaceFile(join(folder, volumeId, 'tokens'), token);
      }
      await begin('NodePublishVolume', {}, signal, false);
      return {};
    },
    async nodeExpandVolume({ volumeId, volumePath, capacityRange }, { signal }) {
      const capacityBytes = capacityRange?.requiredBytes ?? 0n;
      await begin('NodeExpandVolume', { volumeId, volumePath, size: String(capacityBytes) }, signal);
      await replaceFile(join(volumePath, 'size'), String(capacityBytes));
      await begin('NodeExpandVolume', {}, signal, false);
      return { capacityBytes };
    },
    nodeGetVolumeStats: async () => ({
      usage: [{ unit: inBytes, total: 1000n, available: 400n, used: 600n }],
    }),
    async nodeUnpublishVolume({ volumeId, targetPath }, { signal }) {
      await begin('NodeUnpublishVolume', { volumeId, targetPath }, signal);
      await unbind(targetPath);
      await begin('NodeUnpublishVolume', {}, signal, false);
      return {};
    },
    async nodeUnstageVolume({ volumeId, stagingTargetPath }, { signal }) {
      await begin('NodeUnstageVolume', { volumeId, stagingTargetPath }, signal);
      await unbind(stagingTargetPath, false);
      return {};
    },
  };
}

function readAnswer(path: string, method: string): unknown {
  if (path === '' || !existsSync(path)) return undefined;
  return JSON.parse(readFileSync(path, 'utf8'))[method];
}

const isMounted = (path: string) =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === path);

async function bind(source: string, target: string): Promise<void> {
  if (!isMounted(target)) await run('mount', ['--bind', source, target]);
}

async function unbind(target: string, removes = true): Promise<void> {
  try {
    if (isMounted(target)) await run('umount', [target]);
  } catch (error) {
    throw new GrpcError(grpcCodes.INTERNAL, `umount: ${String(Object(error).stderr).trim()}`);
  }
  if (!removes) return;
  await rmdir(target).catch(() => rm(target, { force: true }));
}

/** At once: containers read it meanwhile. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
