import type { ApiObject, Kind, PersistentVolumeSpec } from '../../api/index.ts';
import { StatusError } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { withDeadline } from '../../base/index.ts';
import type { ApiCalls } from '../../client/index.ts';
import type { VolumeDrivers } from './csi/types.ts';
import { noDrivers } from './csi/types.ts';

type NodeSelector = NonNullable<NonNullable<PersistentVolumeSpec['nodeAffinity']>['required']>;

/** What volumes that outlive pods need of the node and its API. */
export interface NodeStorage {
  readonly nodeName: string;
  /** Undefined where the node stands alone. */
  readonly api: Pick<ApiCalls, 'get' | 'patch'> | undefined;
  readonly drivers: VolumeDrivers;
  readonly inUse: VolumesInUse;
  /** Whether the Node fits. */
  matchesNode(selector: NodeSelector): Promise<boolean>;
}

/** What the status of the Node says is in use here: it must stand there before a volume is used, so that nobody takes it away. */
export interface VolumesInUse {
  /** Resolves when the API has it. Rejects with the reason of `signal`. */
  announce(name: string, signal: AbortSignal): Promise<void>;
  /** It is used no more. */
  withdraw(name: string): void;
  /** From now on, what was not announced is not in use. */
  settle(): void;
}

/** Of a node that stands alone. */
export const storageWithoutApi: NodeStorage = {
  nodeName: '',
  api: undefined,
  drivers: noDrivers,
  inUse: { announce: async () => undefined, withdraw: () => undefined, settle: () => undefined },
  matchesNode: async () => true,
};

const timeoutMs = 10_000;

/** Reads objects of the API, each with a deadline. */
export class StorageReader {
  readonly #storage: Pick<NodeStorage, 'api'>;
  readonly #clock: Clock;

  constructor(storage: Pick<NodeStorage, 'api'>, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** Rejects with a StatusError, or with an Error for users where there is no answer. */
  async get<T extends ApiObject>(
    kind: Kind<T>,
    name: string,
    signal: AbortSignal,
    namespace?: string,
  ): Promise<T> {
    const { api } = this.#storage;
    if (api === undefined)
      throw new Error(`this node has no API that could have ${kind.resource}: it stands alone`);
    const limits = { clock: this.#clock, timeoutMs, signal };
    const what = `the API server (get ${kind.resource} ${name})`;
    return await withDeadline(limits, what, (cancel) =>
      api.get(kind, name, { signal: cancel, ...(namespace === undefined ? {} : { namespace }) }),
    );
  }

  /** The same; undefined where there is none. */
  async find<T extends ApiObject>(kind: Kind<T>, name: string, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.get(kind, name, signal);
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
      throw error;
    }
  }
}
