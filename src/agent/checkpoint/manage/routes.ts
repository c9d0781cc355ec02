import type { FastifyReply } from 'fastify';
import { isRecord } from '../../../api/index.ts';
import type { Logger } from '../../../base/index.ts';
import type { AgentRequest, AgentRoute, Answer } from '../../server/index.ts';
import { RefusedError, sendJson } from '../../server/index.ts';
import type { ArchiveFolder, StoredCheckpoint } from '../archive-folder.ts';
import type { RecordChange } from '../record.ts';
import type { Keeper, RetentionOutcome } from '../retention/index.ts';
import type { ManageAction } from './audit.ts';
import { withAudit } from './audit.ts';
import { apiVersion, toCheckpointBody } from './checkpoint-body.ts';
import type { Downloads } from './download.ts';
import { createNotFoundError } from './not-found.ts';
import { readFlag, readSelection, selectPage } from './selection.ts';
import type { Verifier } from './verify.ts';

interface ManageRoutesOptions {
  archives: ArchiveFolder;
  keeper: Pick<Keeper, 'plan' | 'prune'>;
  downloads: Downloads;
  verifier: Verifier;
  verified(result: 'matches' | 'damaged'): void;
  log: Logger;
}

/**
 * The routes below `/checkpoints` (docs/checkpoints.md). Requests are authorized as nodes/checkpoint with the verbs list,
 * get, delete, update for pins, and create for verification.
 */
export function createManageRoutes(options: ManageRoutesOptions): readonly AgentRoute[] {
  const { archives, keeper, downloads, log } = options;
  const audited = (action: ManageAction, answer: Answer) => withAudit(log, action, answer);
  const findRequested = (request: AgentRequest) => find(archives, request);
  const download = audited(
    'download',
    async (request) => await downloads.send(request, await findRequested(request)),
  );
  const route = (path: string, methods: AgentRoute['methods']): AgentRoute => ({
    path,
    subresource: 'checkpoint',
    methods,
  });
  return [
    route('/checkpoints', {
      GET: { verb: 'list', answer: audited('list', (request) => list(request, archives, keeper)) },
    }),
    route('/checkpoints/prune', {
      POST: { verb: 'delete', answer: audited('prune', (request) => prune(request, keeper)) },
    }),
    route('/checkpoints/:id', {
      GET: audited('get', async (request) =>
        sendJson(request.reply, 200, toCheckpointBody(await findRequested(request))),
      ),
      DELETE: audited('delete', (request) => remove(request, archives)),
    }),
    route('/checkpoints/:id/archive', { GET: download, HEAD: download }),
    route('/checkpoints/:id/pin', {
      PUT: audited('pin', (request) => {
        const pinReason = readPinReason(request.raw.headers['content-type'], request.raw.body);
        return change(request, archives, { pinned: true, pinReason });
      }),
      DELETE: {
        verb: 'update',
        answer: audited('unpin', (request) =>
          change(request, archives, { pinned: false, pinReason: undefined }),
        ),
      },
    }),
    route('/checkpoints/:id/verify', { POST: audited('verify', (request) => verify(request, options)) }),
  ];
}

async function find(archives: ArchiveFolder, { params }: AgentRequest): Promise<StoredCheckpoint> {
  const id = params['id'] ?? '';
  const stored = await archives.read(id);
  if (stored === undefined) throw createNotFoundError(id);
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
  const { items, remaining, next } = selectPage(await archives.list(), selection);
  const metadata = next === undefined ? {} : { continue: next, remainingItemCount: remaining };
  return sendJson(reply, 200, {
    apiVersion,
    kind: 'CheckpointList',
    metadata,
    items: items.map(toCheckpointBody),
  });
}

async function prune({ query, reply, requester }: AgentRequest, keeper: Pick<Keeper, 'plan' | 'prune'>) {
  const dryRun = readFlag(query, 'dryRun') ?? false;
  return sendOutcome(reply, dryRun ? await keeper.plan() : await keeper.prune(requester), dryRun);
}

function sendOutcome(reply: FastifyReply, { removals, agesUnknown }: RetentionOutcome, dryRun: boolean) {
  const message = 'limits by age wait until the clock has been steady for long enough';
  const remark = agesUnknown ? { message } : {};
  return sendJson(reply, 200, { apiVersion, kind: 'RetentionOutcome', dryRun, ...remark, items: removals });
}

async function remove({ params, query, reply }: AgentRequest, archives: ArchiveFolder) {
  const id = params['id'] ?? '';
  const force = readFlag(query, 'force') ?? false;
  const gone = await archives.remove(id, ({ record }) => {
    if (record?.pinned && !force)
      throw new RefusedError(
        409,
        `${id} is pinned${formatReason(record)}; unpin it first, or say force=true (--force)`,
      );
  });
  if (gone === undefined) throw createNotFoundError(id);
  return sendJson(reply, 200, toCheckpointBody(gone));
}

const formatReason = ({ pinReason }: { readonly pinReason?: string }) =>
  pinReason === undefined ? '' : ` (${pinReason})`;

async function change(request: AgentRequest, archives: ArchiveFolder, wanted: RecordChange) {
  const { id, record, problem } = await find(archives, request);
  const damaged = `${id} cannot be pinned: ${problem ?? 'it has no sidecar'}; retention never removes it`;
  if (record === undefined) throw new RefusedError(409, damaged);
  const changed = await archives.change(id, wanted);
  if (changed === undefined) throw createNotFoundError(id);
  return sendJson(request.reply, 200, toCheckpointBody(changed));
}

/** Answers 200 where the archive is unchanged since it was made, else 422 with a body of the same form. */
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

const maxReasonLength = 256;

/** The reason in the body of a pin request: plain text, or `{"reason": "…"}` as JSON. Throws a RefusedError (400). */
export function readPinReason(contentType: string | undefined, body: unknown): string | undefined {
  if (!Buffer.isBuffer(body) || body.length === 0) return undefined;
  const text = body.toString('utf8');
  const reason = /^application\/json\b/i.test(contentType ?? '') ? parseReason(text) : text.trim();
  if (reason === undefined || reason === '') return undefined;
  if (reason.length <= maxReasonLength && !/\p{Cc}/u.test(reason)) return reason;
  throw new RefusedError(400, `the reason of a pin is one line of at most ${maxReasonLength} characters`);
}

function parseReason(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RefusedError(400, 'the body is not JSON');
  }
  const reason = isRecord(value) ? value['reason'] : null;
  if (reason === undefined || typeof reason === 'string') return reason;
  throw new RefusedError(400, 'the body must be an object, its reason a text');
}
