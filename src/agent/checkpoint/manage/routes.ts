import type { FastifyReply } from 'fastify';
import type { Logger } from '../../../base/index.ts';
import type { AgentRequest, AgentRoute, Answer } from '../../server/index.ts';
import { RefusedError, sendJson } from '../../server/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import type { RecordChange } from '../record.ts';
import type { Keeper, RetentionOutcome } from '../retention/index.ts';
import type { ManageAction } from './audit.ts';
import { audited } from './audit.ts';
import type { Downloads } from './download.ts';
import { readPinReason } from './pin-reason.ts';
import { noCheckpoint } from './refusals.ts';
import { flagOf, pageOf, readSelection } from './selection.ts';
import { apiVersion, shown } from './shown.ts';
import type { Verifier } from './verify.ts';

export interface ManageRoutesOptions {
  archives: ArchiveFolder;
  keeper: Pick<Keeper, 'plan' | 'prune'>;
  downloads: Downloads;
  verifier: Verifier;
  verified(result: 'matches' | 'damaged'): void;
  log: Logger;
}

/**
 * What there is of checkpoints, over HTTPS (docs/checkpoints.md). Authorized as nodes/checkpoint: list, get, delete,
 * update for pins, create for verification.
 */
export function manageRoutes(options: ManageRoutesOptions): readonly AgentRoute[] {
  const { archives, keeper, downloads, log } = options;
  const of = (action: ManageAction, answer: Answer) => audited(log, action, answer);
  const found = (request: AgentRequest) => find(archives, request);
  const download = of('download', async (request) => await downloads.answer(request, await found(request)));
  const route = (path: string, methods: AgentRoute['methods']): AgentRoute => ({
    path,
    subresource: 'checkpoint',
    methods,
  });
  return [
    route('/checkpoints', {
      GET: { verb: 'list', answer: of('list', (request) => list(request, archives, keeper)) },
    }),
    route('/checkpoints/prune', {
      POST: { verb: 'delete', answer: of('prune', (request) => prune(request, keeper)) },
    }),
    route('/checkpoints/:id', {
      GET: of('get', async (request) => sendJson(request.reply, 200, shown(await found(request)))),
      DELETE: of('delete', (request) => remove(request, archives)),
    }),
    route('/checkpoints/:id/archive', { GET: download, HEAD: download }),
    route('/checkpoints/:id/pin', {
      PUT: of('pin', (request) => {
        const pinReason = readPinReason(request.raw.headers['content-type'], request.raw.body);
        return change(request, archives, { pinned: true, pinReason });
      }),
      DELETE: {
        verb: 'update',
        answer: of('unpin', (request) => change(request, archives, { pinned: false, pinReason: undefined })),
      },
    }),
    route('/checkpoints/:id/verify', { POST: of('verify', (request) => verify(request, options)) }),
  ];
}

async function find(archives: ArchiveFolder, { params }: AgentRequest): Promise<StoredCheckpoint> {
  const id = params['id'] ?? '';
  const stored = await archives.read(id);
  if (stored === undefined) throw noCheckpoint(id);
  return stored;
}

async function list(
  { query, reply }: AgentRequest,
  archives: ArchiveFolder,
  keeper: Pick<Keeper, 'plan'>,
): Promise<FastifyReply> {
  const retention = query.get('retention');
  if (retention === 'dry-run') return sendOutcome(reply, await keeper.plan(), true);
  if (retention !== null) throw new RefusedError(400, 'retention can only be dry-run');
  const selection = readSelection(query);
  const { items, remaining, next } = pageOf(await archives.list(), selection);
  const metadata = next === undefined ? {} : { continue: next, remainingItemCount: remaining };
  return sendJson(reply, 200, { apiVersion, kind: 'CheckpointList', metadata, items: items.map(shown) });
}

async function prune({ query, reply, requester }: AgentRequest, keeper: Pick<Keeper, 'plan' | 'prune'>) {
  const dryRun = flagOf(query, 'dryRun') ?? false;
  return sendOutcome(reply, dryRun ? await keeper.plan() : await keeper.prune(requester), dryRun);
}

function sendOutcome(reply: FastifyReply, { removals, agesUnknown }: RetentionOutcome, dryRun: boolean) {
  const message = 'limits by age wait until the clock has been steady for long enough';
  const told = agesUnknown ? { message } : {};
  return sendJson(reply, 200, { apiVersion, kind: 'RetentionOutcome', dryRun, ...told, items: removals });
}

async function remove({ params, query, reply }: AgentRequest, archives: ArchiveFolder) {
  const id = params['id'] ?? '';
  const force = flagOf(query, 'force') ?? false;
  const gone = await archives.remove(id, ({ record }) => {
    if (record?.pinned && !force)
      throw new RefusedError(409, `${id} is pinned${reasonOf(record)}; unpin it first, or say force=true`);
  });
  if (gone === undefined) throw noCheckpoint(id);
  return sendJson(reply, 200, shown(gone));
}

const reasonOf = ({ pinReason }: { readonly pinReason?: string }) =>
  pinReason === undefined ? '' : ` (${pinReason})`;

async function change(request: AgentRequest, archives: ArchiveFolder, wanted: RecordChange) {
  const { id, record, problem } = await find(archives, request);
  const damaged = `${id} cannot be pinned: ${problem ?? 'it has no sidecar'}; retention never removes it`;
  if (record === undefined) throw new RefusedError(409, damaged);
  const changed = await archives.change(id, wanted);
  if (changed === undefined) throw noCheckpoint(id);
  return sendJson(request.reply, 200, shown(changed));
}

/** 200 where the archive is what it was when it was made, else 422 with the same body. */
async function verify(request: AgentRequest, { archives, verifier, verified }: ManageRoutesOptions) {
  const stored = await find(archives, request);
  const { verification, sha256, bytes, unnoted } = await verifier.verify(stored, request.signal);
  verified(verification.result);
  const expected = { sha256: stored.record?.sha256, bytes: stored.record?.sizeBytes };
  const actual = sha256 === undefined ? {} : { actual: { sha256, bytes } };
  const body = {
    apiVersion,
    kind: 'CheckpointVerification',
    id: stored.id,
    ...verification,
    expected,
    ...actual,
    ...(unnoted === undefined ? {} : { unnoted }),
  };
  return sendJson(request.reply, verification.result === 'matches' ? 200 : 422, body);
}
