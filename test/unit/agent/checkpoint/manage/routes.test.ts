import assert from 'node:assert/strict';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { ArchivesInUse } from '../../../../../src/agent/checkpoint/archives-in-use.ts';
import { withAudit } from '../../../../../src/agent/checkpoint/manage/audit.ts';
import { createVerifier } from '../../../../../src/agent/checkpoint/manage/verify.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { waitFor } from '../../../../support/index.ts';
import { recordedLog } from '../../../base/recorded-log.ts';
import { folderLab, manageLab, noon } from './manage-lab.ts';

const idsIn = ({ json }: { json: { items: { id: string }[] } }) => json.items.map(({ id }) => id);

describe('the list of checkpoints', () => {
  test('is empty, and then has all of them, the newest first, with what is known', async () => {
    await using at = await manageLab();
    const empty = await at.ask('GET', '/checkpoints');
    assert.deepEqual(empty.json, {
      apiVersion: 'checkpoints.nodeward.io/v1',
      kind: 'CheckpointList',
      metadata: {},
      items: [],
    });
    const [first, second] = [await at.make(), await at.make({ pod: 'db', pinned: true })];
    const { code, json } = await at.ask('GET', '/checkpoints');
    assert.equal(code, 200);
    assert.deepEqual(idsIn({ json }), [second.id, first.id]);
    const [{ record, ...shown }] = json.items;
    assert.deepEqual(record, second.record);
    assert.deepEqual(shown, {
      apiVersion: 'checkpoints.nodeward.io/v1',
      kind: 'Checkpoint',
      id: second.id,
      path: second.path,
      bytes: 7,
      modifiedAt: shown.modifiedAt,
      state: 'Unverified',
      pinned: true,
    });
  });

  test('is filtered', async () => {
    await using at = await manageLab();
    const made = [
      await at.make({ namespace: 'a', madeMs: noon }),
      await at.make({ namespace: 'a', pod: 'db', madeMs: noon + 10_000, pinned: true }),
      await at.make({ namespace: 'b', container: 'side', madeMs: noon + 20_000 }),
    ].map(({ id }) => id);
    const found = async (query: string) =>
      idsIn(await at.ask('GET', `/checkpoints?${query}`)).map((id) => made.indexOf(id));
    assert.deepEqual(await found('namespace=a'), [1, 0]);
    assert.deepEqual(await found('namespace=a&pod=db'), [1]);
    assert.deepEqual(await found('container=side'), [2]);
    assert.deepEqual(await found('namespace=c'), []);
    assert.deepEqual(await found('pinned=true'), [1]);
    assert.deepEqual(await found('pinned=false'), [2, 0]);
    assert.deepEqual(await found('since=2026-01-02T12:00:10Z'), [2, 1]);
    assert.deepEqual(await found('until=2026-01-02T13:00:10%2B01:00'), [1, 0]);
    assert.deepEqual(await found('namespace=&pinned='), [2, 1, 0]);
  });

  test('comes in pages, one of which may lose its last while it is read', async () => {
    await using at = await manageLab();
    for (let count = 0; count < 5; count += 1) await at.make();
    const all = await at.ids();
    const first = await at.ask('GET', '/checkpoints?limit=2');
    assert.deepEqual(idsIn(first), all.slice(0, 2));
    assert.equal(first.json.metadata.remainingItemCount, 3);
    await at.archives.remove(all[1] ?? '');
    const second = await at.ask('GET', `/checkpoints?limit=2&continue=${first.json.metadata.continue}`);
    assert.deepEqual(idsIn(second), all.slice(2, 4));
    const third = await at.ask('GET', `/checkpoints?limit=2&continue=${second.json.metadata.continue}`);
    assert.deepEqual([idsIn(third), third.json.metadata], [all.slice(4), {}]);
  });

  for (const query of [
    'limit=x',
    'limit=-1',
    'continue=x',
    `continue=${Buffer.from('../etc').toString('base64url')}`,
    'since=yesterday',
    'since=2026-13-01T00:00:00Z',
    'pinned=perhaps',
    'retention=now',
  ]) {
    test(`?${query} is 400`, async () => {
      await using at = await manageLab();
      const { code, text } = await at.ask('GET', `/checkpoints?${query}`);
      assert.equal(code, 400);
      assert.match(text, / must be | can only be /);
    });
  }

  test('has those whose sidecar is missing or damaged, and says so', async () => {
    await using at = await manageLab();
    const [missing, damaged] = [await at.make(), await at.make()];
    await rm(missing.sidecar);
    await writeFile(damaged.sidecar, '{');
    const { json } = await at.ask('GET', '/checkpoints');
    assert.deepEqual(
      json.items.map(({ id, state, problem }: Record<string, string>) => [
        id,
        state,
        problem?.split(': ').slice(0, 2).join(': '),
      ]),
      [
        [damaged.id, 'Unknown', 'its sidecar is damaged: it is not JSON'],
        [missing.id, 'Unknown', 'it has no sidecar'],
      ],
    );
    assert.equal((await at.ask('GET', `/checkpoints/${missing.id}/archive`)).text, 'archive');
    const pin = await at.ask('PUT', `/checkpoints/${missing.id}/pin`);
    assert.deepEqual(
      [pin.code, pin.text],
      [409, `${missing.id} cannot be pinned: it has no sidecar; retention never removes it`],
    );
    assert.equal((await at.ask('POST', `/checkpoints/${damaged.id}/verify`)).code, 409);
    assert.equal(await at.metric('nodeward_checkpoint_archives{state="Unknown"}'), 2);
    assert.equal((await at.ask('DELETE', `/checkpoints/${damaged.id}`)).code, 200);
  });
});

describe('one checkpoint', () => {
  test('is shown, pinned, kept from removal, unpinned and removed', async () => {
    await using at = await manageLab();
    const { id } = await at.make();
    const path = `/checkpoints/${id}`;
    const body = '{"reason":"for the audit"}';
    const pinned = await at.ask('PUT', `${path}/pin`, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    assert.deepEqual(
      [pinned.code, pinned.json.pinned, pinned.json.record.pinReason],
      [200, true, 'for the audit'],
    );
    const refused = await at.ask('DELETE', path);
    assert.equal(refused.code, 409);
    assert.equal(
      refused.text,
      `${id} is pinned (for the audit); unpin it first, or say force=true (--force)`,
    );
    const unpinned = await at.ask('DELETE', `${path}/pin`);
    assert.deepEqual(
      [unpinned.code, unpinned.json.pinned, unpinned.json.record.pinReason],
      [200, false, undefined],
    );
    assert.equal((await at.ask('DELETE', path)).json.id, id);
    const gone = await at.ask('GET', path);
    assert.deepEqual([gone.code, gone.text], [404, `checkpoint "${id}" does not exist`]);
    assert.equal((await at.ask('DELETE', path)).code, 404);
    assert.match(at.logged(), /"audit":"checkpoint","action":"pin".*"requester":"admin".*"code":200/);
    assert.match(at.logged(), /"action":"delete".*"code":409/);
  });

  test('that is pinned is removed by force', async () => {
    await using at = await manageLab();
    const { id } = await at.make({ pinned: true });
    assert.equal((await at.ask('DELETE', `/checkpoints/${id}?force=perhaps`)).code, 400);
    assert.equal((await at.ask('DELETE', `/checkpoints/${id}?force=true`)).code, 200);
    assert.deepEqual(await at.ids(), []);
  });

  test('is authorized by what is done with it', async () => {
    await using at = await manageLab();
    const { routes } = at.manager;
    const verbs = routes.flatMap(({ path, subresource, methods }) =>
      Object.entries(methods).map(([method, each]) => {
        const own = typeof each === 'function' ? '' : (each.verb ?? '');
        return `${method} ${path} ${subresource}${own === '' ? '' : ` ${own}`}`;
      }),
    );
    assert.deepEqual(verbs, [
      'GET /checkpoints/operations/:id checkpoint',
      'DELETE /checkpoints/operations/:id checkpoint',
      'GET /checkpoints checkpoint list',
      'POST /checkpoints/prune checkpoint delete',
      'GET /checkpoints/:id checkpoint',
      'DELETE /checkpoints/:id checkpoint',
      'GET /checkpoints/:id/archive checkpoint',
      'HEAD /checkpoints/:id/archive checkpoint',
      'PUT /checkpoints/:id/pin checkpoint',
      'DELETE /checkpoints/:id/pin checkpoint update',
      'POST /checkpoints/:id/verify checkpoint',
    ]);
  });
});

describe('the archive', () => {
  const content = Buffer.from('0123456789'.repeat(100_000));

  test('comes whole, with its digest as the tag, and not again where it is known', async () => {
    await using at = await manageLab();
    const { id, record } = await at.make({ content });
    const path = `/checkpoints/${id}/archive`;
    const { code, headers, bytes } = await at.ask('GET', path);
    assert.equal(code, 200);
    assert.ok(bytes.equals(content));
    assert.equal(headers['etag'], `"${record.sha256}"`);
    assert.equal(headers['content-length'], String(content.length));
    assert.equal(headers['accept-ranges'], 'bytes');
    assert.equal(headers['content-disposition'], `attachment; filename="${id}.tar"`);
    for (const tag of [`"${record.sha256}"`, `W/"${record.sha256}"`, `"x", "${record.sha256}"`, '*']) {
      const known = await at.ask('GET', path, { headers: { 'if-none-match': tag } });
      assert.deepEqual([known.code, known.bytes.length], [304, 0], tag);
    }
    assert.equal((await at.ask('GET', path, { headers: { 'if-none-match': '"x"' } })).code, 200);
    const head = await at.ask('HEAD', path);
    assert.deepEqual([head.code, head.bytes.length], [200, 0]);
    assert.equal(head.headers['content-length'], String(content.length));
  });

  test('comes in parts, which together are the whole', async () => {
    await using at = await manageLab();
    const { id, record } = await at.make({ content });
    const part = async (range: string, more = {}) =>
      await at.ask('GET', `/checkpoints/${id}/archive`, { headers: { range, ...more } });
    const [begin, end] = [await part('bytes=0-499999'), await part('bytes=500000-')];
    assert.deepEqual([begin.code, end.code], [206, 206]);
    assert.equal(begin.headers['content-range'], `bytes 0-499999/${content.length}`);
    assert.ok(Buffer.concat([begin.bytes, end.bytes]).equals(content));
    assert.equal((await part('bytes=-3')).text, '789');
    const beyond = await part(`bytes=${content.length}-`);
    assert.deepEqual([beyond.code, beyond.headers['content-range']], [416, `bytes */${content.length}`]);
    assert.equal((await part('bytes=0-1,3-4')).code, 200);
    assert.equal((await part('bytes=0-1', { 'if-range': `"${record.sha256}"` })).code, 206);
    assert.equal((await part('bytes=0-1', { 'if-range': '"other"' })).code, 200);
    const packed = await part('bytes=0-1', { 'accept-encoding': 'gzip' });
    assert.deepEqual([packed.code, packed.headers['content-encoding'], packed.text], [206, undefined, '01']);
  });

  test('comes packed where that is asked for, with a tag of its own', async () => {
    await using at = await manageLab();
    const { id, record } = await at.make({ content });
    for (const [coding, unpack] of [
      ['gzip', gunzipSync],
      ['zstd', zstdDecompressSync],
    ] as const) {
      const headers = { 'accept-encoding': coding };
      const answer = await at.ask('GET', `/checkpoints/${id}/archive`, { headers });
      assert.equal(answer.headers['content-encoding'], coding);
      assert.equal(answer.headers['content-length'], undefined);
      assert.equal(answer.headers['etag'], `"${record.sha256}-${coding}"`);
      assert.ok(answer.bytes.length < content.length / 10);
      assert.ok(unpack(answer.bytes).equals(content));
    }
  });

  test('that is empty is sent as such', async () => {
    await using at = await manageLab();
    const { id } = await at.make({ content: Buffer.alloc(0) });
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
      const { code, bytes } = await at.ask('GET', `/checkpoints/${id}/archive`, { headers });
      assert.deepEqual([code, bytes.length], [200, 0]);
    }
    const none = await at.ask('GET', `/checkpoints/${id}/archive`, { headers: { range: 'bytes=0-' } });
    assert.equal(none.code, 416);
  });

  test('that is removed while it is read comes to its end, and retention waits for that', async () => {
    const large = Buffer.alloc(24 * 1024 * 1024, 'x');
    await using at = await manageLab({ retention: () => ({ node: { maxCount: 1 } }) });
    const { id } = await at.make({ content: large });
    await at.make();
    const answer = await at.open(`/checkpoints/${id}/archive`);
    answer.body.pause();
    assert.deepEqual((await at.ask('POST', '/checkpoints/prune')).json.items, []);
    assert.equal((await at.ask('DELETE', `/checkpoints/${id}`)).code, 200);
    const chunks = await Array.fromAsync(answer.body, (chunk) => Buffer.from(chunk));
    assert.ok(Buffer.concat(chunks).equals(large));
  });

  test('is let go when the client goes away in the middle', async () => {
    await using at = await manageLab({ retention: () => ({ node: { maxCount: 1 } }) });
    const { id } = await at.make({ content: Buffer.alloc(24 * 1024 * 1024) });
    const other = await at.make();
    for (const coding of ['identity', 'gzip']) {
      const answer = await at.open(`/checkpoints/${id}/archive`, { 'accept-encoding': coding });
      answer.body.on('error', () => undefined).destroy();
    }
    await waitFor('it to be let go', async () => {
      const { json } = await at.ask('POST', '/checkpoints/prune');
      return json.items.length === 1;
    });
    assert.deepEqual(await at.ids(), [other.id]);
  });

  test('is not read further than a client takes it', async () => {
    await using at = await manageLab();
    const { id } = await at.make({ content: Buffer.alloc(96 * 1024 * 1024) });
    const before = process.memoryUsage().rss;
    const answers = [];
    for (let count = 0; count < 4; count += 1) {
      const answer = await at.open(`/checkpoints/${id}/archive`);
      answer.body.pause();
      answers.push(answer);
    }
    assert.equal((await at.ask('GET', `/checkpoints/${id}`)).code, 200);
    assert.ok(process.memoryUsage().rss - before < 192 * 1024 * 1024, 'of 384 MiB');
    for (const { body } of answers) body.on('error', () => undefined).destroy();
  });
});

describe('verifying', () => {
  test('says that an archive is what it was, or what is wrong, and notes it', async () => {
    await using at = await manageLab();
    const { id, path, record } = await at.make({ content: Buffer.alloc(5 * 1024 * 1024, 'a') });
    const good = await at.ask('POST', `/checkpoints/${id}/verify`);
    assert.deepEqual([good.code, good.json.result], [200, 'matches']);
    assert.equal((await at.ask('GET', `/checkpoints/${id}`)).json.state, 'Matches');
    await writeFile(path, Buffer.alloc(5 * 1024 * 1024, 'b'));
    const bad = await at.ask('POST', `/checkpoints/${id}/verify`);
    assert.deepEqual([bad.code, bad.json.result, bad.json.expected.sha256], [422, 'damaged', record.sha256]);
    assert.notEqual(bad.json.actual.sha256, record.sha256);
    const { json } = await at.ask('GET', '/checkpoints');
    assert.deepEqual([json.items[0].state, json.items[0].problem], ['Damaged', bad.json.problem]);
    assert.equal(await at.metric('nodeward_checkpoint_archives{state="Damaged"}'), 1);
    assert.equal(await at.metric('nodeward_checkpoint_verifications_total{result="damaged"}'), 1);
    assert.equal(await at.metric('nodeward_checkpoint_verifications_total{result="matches"}'), 1);
    assert.equal(await at.metric('nodeward_checkpoint_archives_bytes'), 5 * 1024 * 1024);
    await appendFile(path, 'more');
    const longer = await at.ask('POST', `/checkpoints/${id}/verify`);
    assert.equal(longer.json.problem, 'it has 5242884 bytes, not 5242880');
  });

  test('tells what it has found where that cannot be noted, and that an archive has gone', async () => {
    await using at = await folderLab();
    const [kept, gone] = [await at.make(), await at.make()];
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const archives = { ...at.archives, change: () => Promise.reject(full) };
    const verifier = createVerifier(archives, new ArchivesInUse(), systemClock);
    const { signal } = new AbortController();
    const verdict = await verifier.verify(kept, signal);
    assert.deepEqual([verdict.verification.result, verdict.unnoted], ['matches', full.message]);
    await at.archives.remove(gone.id);
    await assert.rejects(verifier.verify(gone, signal), { code: 404 });
  });
});

describe('a disk that is full', () => {
  test('is told to who asks, in the words of the system', async () => {
    const { log, text } = recordedLog();
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    const answer = withAudit(log, 'pin', () => Promise.reject(full));
    const request = { params: { id: 'x' }, requester: 'alice', raw: { method: 'PUT' } };
    // biome-ignore lint/suspicious/noExplicitAny: only what is read of a request
    await assert.rejects(async () => await answer(request as any), {
      name: 'RefusedError',
      code: 500,
      message: full.message,
    });
    assert.match(text(), /"action":"pin".*"code":500/);
  });
});

describe('pruning', () => {
  test('shows what would go, and removes it when it is told to', async () => {
    await using at = await manageLab({ retention: () => ({ perContainer: { maxCount: 1 } }) });
    const [old, young] = [await at.make(), await at.make()];
    const item = { id: old.id, bytes: 7, scope: 'perContainer', limit: 'maxCount' };
    for (const [method, path] of [
      ['GET', '/checkpoints?retention=dry-run'],
      ['POST', '/checkpoints/prune?dryRun=true'],
    ] as const) {
      const { json } = await at.ask(method, path);
      assert.deepEqual([json.kind, json.dryRun, json.items], ['RetentionOutcome', true, [item]]);
    }
    assert.equal((await at.ids()).length, 2);
    const { json } = await at.ask('POST', '/checkpoints/prune');
    assert.deepEqual([json.dryRun, json.items], [false, [item]]);
    assert.deepEqual(await at.ids(), [young.id]);
    const labels = 'scope="perContainer",limit="maxCount"';
    assert.equal(await at.metric(`nodeward_checkpoint_retention_removals_total{${labels}}`), 1);
    assert.equal(await at.metric('nodeward_checkpoint_retention_removed_bytes_total'), 7);
  });

  test('happens by itself after a checkpoint', async () => {
    await using at = await manageLab({ retention: () => ({ perContainer: { maxCount: 1 } }) });
    const old = await at.make();
    at.keep();
    assert.equal((await at.ask('POST', '/checkpoint/shop/web/main')).code, 200);
    await waitFor('the old one to go', async () => !(await at.ids()).includes(old.id));
    assert.equal((await at.ids()).length, 1);
  });
});

describe('ids that are none', () => {
  test('lead nowhere: 4xx, and everything is where it was', async () => {
    await using at = await manageLab();
    const { id } = await at.make();
    await writeFile(`${at.rootDir}/secret.tar`, 'secret');
    const piece = fc.constantFrom(
      '..',
      '.',
      '/',
      '%2f',
      '%00',
      '\\',
      id,
      'secret',
      '.tar',
      'checkpoint-',
      '_',
      '~',
      '%',
    );
    const texts = fc.oneof(
      fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('')),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).map(encode),
      fc.stringMatching(/^checkpoint-[-a-z_.0-9:TZ]{1,60}$/),
    );
    const requests = fc.constantFrom(
      ...(['GET ', 'DELETE ', 'GET /archive', 'PUT /pin', 'DELETE /pin', 'POST /verify'] as const),
    );
    await fc.assert(
      fc.asyncProperty(texts, requests, async (text, request) => {
        const [method = '', more = ''] = request.split(' ');
        if (text === id) return;
        const { code, text: said } = await at.ask(method, `/checkpoints/${text}${more}`);
        assert.ok(code >= 400 && code < 500, `${code} ${said}`);
        assert.doesNotMatch(said, /^secret/);
      }),
      { numRuns: 150 },
    );
    assert.deepEqual(await at.ids(), [id]);
  });
});

function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return '%ff'; // half a character
  }
}
