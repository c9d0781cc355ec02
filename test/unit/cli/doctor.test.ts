import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import type { Row } from '../../../src/agent/index.ts';
import { verdicts } from '../../../src/agent/index.ts';
import { exitCodes } from '../../../src/base/index.ts';
import { formatReport, isFailure, worstFirst } from '../../../src/cli/doctor.ts';
import { runCommandLine } from './run-command.ts';

const row = (id: string, more: Partial<Row>): Row => ({
  ...{ id, topic: 'kernel', title: 'a thing', needed: 'much', found: 'little', verdict: 'ok' },
  ...more,
});

describe('doctor', () => {
  test('docs/errors.md lists exactly the verdicts, each with the exit codes that it makes', async () => {
    const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    const section = page.split('### `nodeward doctor`')[1]?.split('\n###')[0] ?? '';
    const listed = [...section.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|/gm)].map(([, verdict, code]) => [
      verdict,
      code,
    ]);
    const known = verdicts.map((verdict) => {
      const [plain, strict] = [isFailure(verdict, false), isFailure(verdict, true)];
      return [
        verdict,
        plain === strict ? `${Number(plain)}` : `${Number(plain)}, with \`--strict\` ${Number(strict)}`,
      ];
    });
    assert.deepEqual(listed.sort(), known.sort());
  });

  test('nothing sorts or counts failures first: it does now, and says what is needed and what to do', () => {
    const rows = worstFirst([
      row('first', {}),
      row('other', { topic: 'agent', verdict: 'unknown' }),
      row('second', { verdict: 'failed', found: 'evil\u001b[2Jtext', advice: 'mend it' }),
    ]);
    assert.equal(
      formatReport(rows),
      [
        'failed   second  a thing: evil?[2Jtext',
        '                 needed: much',
        '                 to do: mend it',
        '',
        'unknown  other   a thing: little',
        '                 needed: much',
        '',
        'ok       first   a thing: little',
        '',
        '3 checks: 1 failed, 1 unknown, 1 ok',
        '',
      ].join('\n'),
    );
    assert.match(formatReport(rows.slice(0, 1)), /^1 check: 1 failed$/m);
    assert.match(
      formatReport(rows, (text, tone) => `<${tone}>${text}`),
      /^<bad>failed {3}second/,
    );
  });

  test('what is asked wrongly', async () => {
    for (const args of [['--only', 'Nothing!'], ['--only', 'nothing'], ['-o', 'xml'], ['more']])
      assert.equal((await runCommandLine(['doctor', ...args])).code, exitCodes.usage, args.join(' '));
  });
});
