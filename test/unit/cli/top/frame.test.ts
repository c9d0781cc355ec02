import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutColour } from '../../../../src/cli/terminal/colour.ts';
import type { FrameInput } from '../../../../src/cli/top/frame.ts';
import { renderFrame } from '../../../../src/cli/top/frame.ts';
import { paintLine, widthOf } from '../../../../src/cli/top/line.ts';
import { readLook } from '../../../../src/cli/top/look.ts';
import { figures, frameInput, nowMs, usedPod, view } from './samples.ts';

const rowsOf = (input: FrameInput) => renderFrame(input).lines.map((line) => paintLine(line, withoutColour));
const podsOf = (input: FrameInput) => rowsOf(input).flatMap((row) => /^\S+\/\S+/.exec(row)?.[0] ?? []);
const tonesOf = (input: FrameInput) =>
  renderFrame(input).lines.flatMap((line) => line.map(({ text, tone }) => `${tone ?? '-'} ${text.trim()}`));

describe('a frame', () => {
  test('a wide terminal has every column and bars', () => {
    assert.deepEqual(rowsOf(frameInput(120, 18)), [
      'nodeward top  node-a  03:04:05Z  every 2s',
      'DiskPressure for 2m: imagefs.available is 30Gi, 35Gi are to stay free',
      'cpu       0.84 of 1.80               47%  [=========           ]  PSI 1.3%',
      'memory    1.3 GiB of 3.6 GiB         35%  [=======             ]  1.3 GiB until eviction  PSI 0.0%',
      'disk      20.0 GiB of 50.0 GiB       40%  [========            ]  25.0 GiB until eviction  inodes 10%  PSI 12.5%',
      'images    3.0 GiB of 50.0 GiB         6%  [=                   ]  5.0 GiB below eviction threshold  inodes 10%',
      'processes 312 of 32768                1%  [                    ]',
      'pods      5 of 110                    5%  [=                   ]  2 not ready',
      'POD                          CPU     MEMORY*  %LIM  %THR        DISK   RST  READY  STATUS',
      'shop/db-0                    35m   512.0 MiB   50%     -   900.0 MiB     0    1/1  Running',
      'shop/web-7d9c5b6f4-x2x7q    412m   180.0 MiB   85%   50%    12.0 MiB     3    1/2  Running',
      'kube-system/dns-abcde         2m    24.0 MiB     -     -         0 B     1    1/1  Terminating',
      'default/foreign               1m     3.0 MiB     -     -         0 B     -      -  -',
      'shop/cron-28373                -           -     -     -           -     0    0/1  ImagePullBackOff',
      '',
      '',
      '',
      'q quit  c m d n sort  p containers  / filter  space pause  arrows scroll',
    ]);
  });

  test('with containers, on 80 columns the status falls away, and the bars', () => {
    assert.deepEqual(rowsOf(frameInput(80, 22, { view: { ...view, containers: true } })), [
      'nodeward top  node-a  03:04:05Z  every 2s',
      'DiskPressure for 2m: imagefs.available is 30Gi, 35Gi are to stay free',
      'cpu       0.84 of 1.80               47%  PSI 1.3%',
      'memory    1.3 GiB of 3.6 GiB         35%  1.3 GiB until eviction  PSI 0.0%',
      'disk      20.0 GiB of 50.0 GiB       40%  25.0 GiB until eviction  inodes 10%',
      'images    3.0 GiB of 50.0 GiB         6%  5.0 GiB below eviction threshold',
      'processes 312 of 32768                1%',
      'pods      5 of 110                    5%  2 not ready',
      'POD                         CPU     MEMORY*  %LIM  %THR        DISK   RST  READY',
      'shop/db-0                   35m   512.0 MiB   50%     -   900.0 MiB     0    1/1',
      '  postgres                  35m   512.0 MiB   50%     -   801.0 MiB     0    yes',
      'shop/web-7d9c5b6f4-x2x…    412m   180.0 MiB   85%   50%    12.0 MiB     3    1/2',
      '  main                     400m   170.0 MiB   85%   50%    11.0 MiB     3     no',
      '  proxy                     12m    10.0 MiB     -     -     1.0 MiB     0    yes',
      'kube-system/dns-abcde        2m    24.0 MiB     -     -         0 B     1    1/1',
      '  dns                        2m    24.0 MiB     -     -     1.0 MiB     1    yes',
      'default/foreign              1m     3.0 MiB     -     -         0 B     -      -',
      '  c                          1m     3.0 MiB     -     -     1.0 MiB     -      -',
      'shop/cron-28373               -           -     -     -           -     0    0/1',
      '  c                           -           -     -     -           -     0      -',
      '',
      'q quit  c m d n sort  p containers  / filter  space pause  arrows scroll',
    ]);
  });

  test('a small one has less of the node and the columns that matter most', () => {
    assert.deepEqual(rowsOf(frameInput(40, 10)), [
      'nodeward top  node-a  03:04:05Z',
      'DiskPressure for 2m: imagefs.available …',
      'cpu       0.84 of 1.80               47%',
      'memory    1.3 GiB of 3.6 GiB         35%',
      'POD                      CPU     MEMORY*',
      'shop/db-0                35m   512.0 MiB',
      'shop/web-7d9c5b6f4-…    412m   180.0 MiB',
      'kube-system/dns-abc…      2m    24.0 MiB',
      'default/foreign           1m     3.0 MiB',
      'q quit  c m d n sort            1-4 of 5',
    ]);
  });

  test('a tiny one has names', () => {
    assert.deepEqual(rowsOf(frameInput(20, 5)), [
      'nodeward top  node-a',
      'POD',
      'shop/db-0',
      'shop/web-7d9c5b6f4-…',
      'kube-system/dns-abc…',
    ]);
  });

  test('no row is longer than the terminal and no frame higher, whatever its size', () => {
    for (const containers of [false, true]) {
      for (const absence of [undefined, { sinceMs: nowMs, why: 'x'.repeat(300) }]) {
        for (let columns = 1; columns <= 140; columns += 1) {
          const rows = (columns * 7) % 40;
          const { lines } = renderFrame(
            frameInput(columns, rows, { view: { ...view, containers }, absence }),
          );
          assert.ok(lines.length <= rows, `${columns}x${rows}`);
          for (const line of lines)
            assert.ok(widthOf(line) <= columns, `${columns}x${rows}: ${line[0]?.text}`);
        }
      }
    }
  });
});

describe('what stands in a frame', () => {
  test('pods by what they are sorted by; of those that are equal, and of what is not known, by name', () => {
    const by = (sort: typeof view.sort) => podsOf(frameInput(120, 40, { view: { ...view, sort } }));
    const [db, web, dns, foreign, cron] = [
      'shop/db-0',
      'shop/web-7d9c5b6f4-x2x7q',
      'kube-system/dns-abcde',
      'default/foreign',
      'shop/cron-28373',
    ];
    assert.deepEqual(by('memory'), [db, web, dns, foreign, cron]);
    assert.deepEqual(by('cpu'), [web, db, dns, foreign, cron]);
    assert.deepEqual(by('disk'), [db, web, foreign, dns, cron]);
    assert.deepEqual(by('name'), [foreign, dns, cron, db, web]);
  });

  test('only the chosen pods: of a namespace, of a name, with a text in it', () => {
    assert.deepEqual(podsOf(frameInput(120, 40, { namespace: 'default' })), ['default/foreign']);
    assert.deepEqual(podsOf(frameInput(120, 40, { pod: 'db-0' })), ['shop/db-0']);
    const typed = frameInput(120, 40, { view: { ...view, filter: 'SHOP/C', isTyping: true } });
    assert.deepEqual(podsOf(typed), ['shop/cron-28373']);
    assert.equal(rowsOf(typed).at(-1), 'filter: SHOP/C_');
  });

  test('the rows that are scrolled to, and which of how many they are', () => {
    const at = (first: number) => frameInput(80, 12, { view: { ...view, containers: true, first } });
    const { extent } = renderFrame(at(0));
    assert.deepEqual(extent, { rows: 11, page: 5 });
    assert.match(rowsOf(at(0)).at(-1) ?? '', /^q quit .* 1-5 of 11$/);
    assert.match(rowsOf(at(3)).at(-1) ?? '', / 4-8 of 11$/);
    assert.match(rowsOf(at(99)).at(-1) ?? '', / 7-11 of 11$/);
    assert.equal(rowsOf(at(99)).at(-2)?.split(' ')[2], 'c');
  });

  test('since when there are no figures and why, with the last figures greyed', () => {
    const absence = { sinceMs: nowMs - 8000, why: 'connect ECONNREFUSED\u001b[2J' };
    const away = frameInput(120, 18, { absence });
    const [title, ...rest] = rowsOf(away);
    assert.equal(title, 'nodeward top  node-a  no figures since 03:03:57Z (8s): connect ECONNREFUSED?[2J');
    assert.deepEqual(rest, rowsOf(frameInput(120, 18)).slice(1));
    const [, ...tones] = renderFrame(away).lines;
    for (const line of tones.slice(0, -1)) for (const { tone } of line) assert.equal(tone, 'faint');
  });

  test('that it is paused', () => {
    const paused = frameInput(120, 18, { view: { ...view, isPaused: true } });
    assert.equal(rowsOf(paused)[0], 'nodeward top  node-a  paused  03:04:05Z  every 2s');
  });

  test('what is near its limit is coloured', () => {
    const tones = tonesOf(frameInput(120, 18));
    for (const each of [
      'doubtful 85%',
      'bad 50%',
      'doubtful 1/2',
      'doubtful ImagePullBackOff',
      '- 1/1',
      '- Running',
    ])
      assert.ok(tones.includes(each), each);
    assert.ok(tones.includes('bad 5.0 GiB below eviction threshold'));
    assert.ok(tones.some((each) => each.startsWith('bad DiskPressure')));
    assert.ok(tones.includes('doubtful PSI 12.5%'));
  });

  test('no control characters, whatever the names are', () => {
    const evil = 'a\u001b]0;title\u0007\nb\u202e\u009b2J';
    const known = figures();
    const pods = known.pods.map((pod) => ({
      ...pod,
      ...{ namespace: evil, name: evil, status: evil },
      containers: pod.containers.map((container) => ({ ...container, name: evil })),
    }));
    const node = {
      ...known.node,
      name: evil,
      pressures: [{ condition: evil, since: evil, found: evil }],
    };
    const input = frameInput(120, 30, {
      figures: { ...known, node, pods },
      ...{ view: { ...view, containers: true, filter: '\u0007' }, namespace: '', pod: '' },
    });
    for (const filter of ['', evil]) {
      const text = rowsOf({ ...input, view: { ...input.view, filter } }).join('');
      assert.doesNotMatch(text, /[\p{Cc}\p{Bidi_Control}]/u);
    }
  });
});

test('a node may name more pods and containers than a call has arguments', () => {
  const count = 150_000;
  const many = Array.from({ length: count }, (_, index) =>
    usedPod('shop', `p${index}`, { milliCpu: 1, mib: 1 }, {}),
  );
  const containers = many.map((pod, index) => ({
    ...pod,
    name: `c${index}`,
    ...{ memory: { workingSetBytes: 1, availableBytes: 1 } },
  }));
  const summary = { pods: [...many, { ...many[0], containers }] };
  const look = readLook({ summary, limits: undefined, pods: undefined }, nowMs);
  const { extent } = renderFrame(frameInput(80, 24, { figures: look.figures }));
  assert.equal(extent.rows, count + 1);
});
