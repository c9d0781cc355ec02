/**
 * The operator's access to the store of a running server, since no other process may open its file. Only for
 * `system:masters`: a snapshot holds every Secret. Only one of check, defrag and snapshot runs at a time.
 */
import { addAbortSignal, Readable } from 'node:stream';
import { StatusError } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import { mastersGroup } from '../authn/index.ts';
import type { DocumentRoute } from '../http/index.ts';
import type { MaintainedStore, TaskName } from '../storage/index.ts';
import { StorageError } from '../storage/index.ts';
import { liveStats } from './stats.ts';
import { takeSnapshot } from './take-snapshot.ts';
import type { HoldReport } from './write-hold.ts';
import { WriteHold } from './write-hold.ts';

/** A client that reads a snapshot slower than this is cut off. */
const maxSnapshotMs = 10 * 60_000;

export function storageRoutes(store: MaintainedStore, clock: Clock, log: Logger): DocumentRoute[] {
  const slot = new TaskSlot();
  const statsSlot = new TaskSlot();
  const only = { group: mastersGroup };
  const taskRoute = (name: TaskName, methods: readonly string[]): DocumentRoute => ({
    path: `/storage/${name}`,
    methods,
    ...only,
    respond: async (_request, reply) => {
      using _mine = (name === 'stats' ? statsSlot : slot).take(name);
      const report = await withStatusErrors<object>(() =>
        name === 'stats' ? liveStats(store) : store.run(name),
      );
      if (name !== 'stats') log.info({ report }, `storage ${name} done`);
      return reply.header('content-type', 'application/json').send(JSON.stringify(report));
    },
  });
  return [
    taskRoute('stats', ['GET']),
    taskRoute('check', ['POST']),
    taskRoute('defrag', ['POST']),
    {
      path: '/storage/snapshot',
      methods: ['GET'],
      ...only,
      respond: (_request, reply) => {
        const mine = slot.take('snapshot');
        const snapshot = Readable.from(takeSnapshot(store), { objectMode: false });
        snapshot.once('close', () => mine[Symbol.dispose]());
        addAbortSignal(AbortSignal.timeout(maxSnapshotMs), snapshot);
        return reply.header('content-type', 'application/octet-stream').send(snapshot);
      },
    },
    holdRoute(new WriteHold(store, clock, log)),
  ];
}

/** POST begins or renews a hold, PUT makes it permanent, DELETE ends it; its id and destination are in the query. */
function holdRoute(hold: WriteHold): DocumentRoute {
  return {
    path: '/storage/hold',
    methods: ['POST', 'PUT', 'DELETE'],
    group: mastersGroup,
    respond: async (request, reply) => {
      const { id, to, revision } = parseHoldQuery(request.url);
      if (request.method === 'DELETE') hold.release(id);
      const report = await withStatusErrors<HoldReport | object | undefined>(async () => {
        if (request.method === 'POST') return await hold.take(id, to);
        return request.method === 'PUT' ? await hold.seal(id, revision) : {};
      });
      if (report === undefined) throw new StatusError('Conflict', 'the store is not held by this migration');
      return reply.header('content-type', 'application/json').send(JSON.stringify(report));
    },
  };
}

function parseHoldQuery(url: string): { id: string; to: string; revision: number } {
  const query = new URL(url, 'https://server').searchParams;
  const [id = '', to = '', revision = '0'] = ['id', 'to', 'revision'].map(
    (name) => query.get(name) ?? undefined,
  );
  if (!/^[\w-]{1,64}$/.test(id) || to.length > 4096 || !/^\d{1,16}$/.test(revision)) {
    throw new StatusError('BadRequest', 'a hold needs an id, and says where the objects go');
  }
  return { id, to, revision: Number(revision) };
}

/** A slot for one task: further ones are refused. */
class TaskSlot {
  #busyWith: string | undefined;

  take(what: string): Disposable {
    if (this.#busyWith !== undefined) {
      throw new StatusError(
        'TooManyRequests',
        `the storage is busy with a ${this.#busyWith}; try again later`,
        {
          details: { retryAfterSeconds: 1 },
        },
      );
    }
    this.#busyWith = what;
    return {
      [Symbol.dispose]: () => {
        this.#busyWith = undefined;
      },
    };
  }
}

/** Passes the reason of a failure to the operator, who is the only user that may call this. */
async function withStatusErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const reason = error.code === 'corrupt' ? 'InternalError' : 'ServiceUnavailable';
    throw new StatusError(reason, error.message, { cause: error });
  }
}
