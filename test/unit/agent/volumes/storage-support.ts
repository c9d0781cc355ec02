import assert from 'node:assert/strict';
import type { PodObjects } from '../../../../src/agent/objects/index.ts';
import type { PodTokens } from '../../../../src/agent/tokens/index.ts';
import { tokensWithoutApi } from '../../../../src/agent/tokens/index.ts';
import { attachmentName } from '../../../../src/agent/volumes/csi/paths.ts';
import type { NodeStorage, VolumesInUse } from '../../../../src/agent/volumes/index.ts';
import type { PodVolume } from '../../../../src/agent/volumes/kinds/types.ts';
import { Mounter } from '../../../../src/agent/volumes/mounter.ts';
import type { PersistentVolumes } from '../../../../src/agent/volumes/persistent.ts';
import { createPersistentVolumes } from '../../../../src/agent/volumes/persistent.ts';
import { Place } from '../../../../src/agent/volumes/place.ts';
import type { Tools } from '../../../../src/agent/volumes/tools.ts';
import type { ApiObject, Kind, Pod } from '../../../../src/api/index.ts';
import { applyMergePatch, StatusError } from '../../../../src/api/index.ts';
import { isRecord, silentLogger } from '../../../../src/base/index.ts';
import { ResponseParser } from '../../../../src/client/responses.ts';
import { FakeObjects } from '../../../support/fake-objects.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import type { FakeDriver } from './fake-driver.ts';
import { FakeDrivers } from './fake-driver.ts';
import type { Volume } from './support.ts';
import { podWith } from './support.ts';

export const driverName = 'disk.example.com';

/** The API as far as volumes read it: objects by `RESOURCE/NAME`, as JSON. */
export class FakeStorage implements NodeStorage {
  readonly nodeName = 'node-1';
  readonly objects = new Map<string, Record<string, unknown>>();
  readonly drivers = new FakeDrivers();
  readonly driver: FakeDriver = this.drivers.register(driverName);
  readonly announced: string[] = [];
  /** What the API fails with, if it does. */
  failure: Error | undefined;
  matches = true;
  gets = 0;
  /** The states of claims that were written. */
  readonly patches: string[] = [];
  /** How many of the next writes fail. */
  conflicts = 0;

  readonly api: NonNullable<NodeStorage['api']> = {
    get: async <T extends ApiObject>(kind: Kind<T>, name: string): Promise<T> => {
      this.gets += 1;
      if (this.failure !== undefined) throw this.failure;
      const found = this.objects.get(`${kind.resource}/${name}`);
      // as the API answers a node: it may read the attachments that are for it
      if (found === undefined && kind.resource === 'volumeattachments')
        throw new StatusError('Forbidden', 'no relationship found between node and this object');
      if (found === undefined)
        throw new StatusError('NotFound', `${kind.resource} ${JSON.stringify(name)} not found`);
      const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
      return new ResponseParser<T>('api', kind, '').parseObject(
        JSON.stringify({ kind: kind.kind, apiVersion, ...found }),
      );
    },
    patch: async (kind, name, change) => {
      this.#change(`${kind.resource}/${name}`, change);
      return await this.api.get(kind, name);
    },
  };

  #change(key: string, change: Readonly<Record<string, unknown>>): void {
    this.patches.push(JSON.stringify(change['status']));
    if (this.conflicts-- > 0) throw new StatusError('Conflict', 'it has changed');
    const merged = applyMergePatch(this.objects.get(key), change);
    if (isRecord(merged)) this.put(key, merged);
  }

  readonly inUse: VolumesInUse = {
    announce: async (name) => void this.announced.push(name),
    withdraw: (name) => void this.announced.splice(this.announced.indexOf(name), 1),
    settle: () => undefined,
  };

  matchesNode = async () => this.matches;

  put(key: string, object: Record<string, unknown>): void {
    this.objects.set(key, object);
  }

  /** A claim `NAME` bound to a volume `pv-NAME` with the handle `handle-NAME`, of the driver, attached. */
  bind(name: string, spec: Record<string, unknown> = {}, csi: Record<string, unknown> = {}): void {
    const handle = `handle-${name}`;
    const own = { driver: driverName, volumeHandle: handle, fsType: 'ext4', ...csi };
    this.put(`persistentvolumeclaims/${name}`, {
      metadata: { name, uid: `claim-${name}` },
      spec: { volumeName: `pv-${name}` },
      status: { phase: 'Bound' },
    });
    const common = { accessModes: ['ReadWriteOnce'], claimRef: { uid: `claim-${name}` }, csi: own };
    this.put(`persistentvolumes/pv-${name}`, {
      metadata: { name: `pv-${name}` },
      spec: { ...common, ...spec },
    });
    const attachment = attachmentName(handle, driverName, this.nodeName);
    this.put(`volumeattachments/${attachment}`, {
      metadata: { name: attachment },
      status: { attached: true, attachmentMetadata: { device: '/dev/x' } },
    });
  }

  csiDriver(spec: Record<string, unknown>): void {
    this.put(`csidrivers/${driverName}`, { metadata: { name: driverName }, spec });
  }
}

/** A pod `UID` with a volume `data` of the claim. */
export function podOf(claim: string, uid = 'u1', spec: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  const data: Volume = { name: 'data', persistentVolumeClaim: { claimName: claim } };
  const pod = podWith([data], undefined, { serviceAccountName: 'app', ...spec });
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

/** The volume `data` of such a pod. */
export function volumeOf(pod: Pod): PodVolume {
  const [source] = pod.spec?.volumes ?? [];
  assert.ok(source);
  return { pod, uid: pod.metadata?.uid ?? '', name: source.name, source };
}

/** What keeps volumes of drivers and of claims, on a folder of its own. */
export async function keepers(
  storage: FakeStorage,
  options: { readonly tokens?: PodTokens; readonly objects?: PodObjects; readonly run?: Tools['run'] } = {},
) {
  const folder = await temporaryFolder('volumes-');
  const clock = createManualClock();
  const log = silentLogger();
  const directory = { code: 0, output: 'directory', errors: '' };
  const tools: Tools = { run: options.run ?? (async () => directory) };
  const events: string[] = [];
  const made: PersistentVolumes[] = [];
  const stop = () => {
    for (const each of made) each.close();
  };
  return {
    ...{ clock, events, rootDir: folder.path },
    /** As an agent that starts does. */
    start(): PersistentVolumes {
      stop();
      const next = createPersistentVolumes({
        ...{ storage, clock, log, tools },
        place: new Place(folder.path),
        mounter: new Mounter({ tools, log }),
        tokens: options.tokens ?? tokensWithoutApi,
        objects: options.objects ?? new FakeObjects(),
        report: (_pod, { reason }) => void events.push(reason),
        reportClaim: (_claim, { reason }) => void events.push(`claim ${reason}`),
      });
      made.push(next);
      return next;
    },
    async [Symbol.asyncDispose]() {
      stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}
