import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { createLinkRewriter } from '../../../../src/apiserver/node-proxy/page-links.ts';
import { below, withSeed } from '../../../support/repetition.ts';

const prefix = '/api/v1/namespaces/default/pods/web/proxy';
const moved = { prefix, origin: 'http://10.0.0.7:8080' };

/** What becomes of a page that comes in these pieces. */
async function rewrite(pieces: readonly Buffer[]): Promise<Buffer> {
  const rewriter = createLinkRewriter(moved);
  const out: Buffer[] = [];
  rewriter.on('data', (piece: Buffer) => out.push(piece));
  for (const piece of pieces) rewriter.write(piece);
  rewriter.end();
  await once(rewriter, 'end');
  return Buffer.concat(out);
}

const rewriteText = async (text: string) => String(await rewrite([Buffer.from(text)]));

/** P stands for the prefix. */
const cases: Readonly<Record<string, string>> = {
  '<a href="/a">/a</a>': '<a href="P/a">/a</a>',
  "<A HREF = '/a' class=x><img src=/b.png>": "<A HREF = 'P/a' class=x><img src=P/b.png>",
  '<a href="a"><a href="../a"><a href="?a"><a href="#a"><a href="">':
    '<a href="a"><a href="../a"><a href="?a"><a href="#a"><a href="">',
  '<a href="//other/a"><a href="/\\other"><a href="https://other/a"><a href="mailto:a">':
    '<a href="//other/a"><a href="/\\other"><a href="https://other/a"><a href="mailto:a">',
  '<a href="http://10.0.0.7:8080/a?b#c"><a href="//10.0.0.7:8080"><a href="http://10.0.0.7:80801/">':
    '<a href="P/a?b#c"><a href="P/"><a href="http://10.0.0.7:80801/">',
  [`<a href="${prefix}/a"><a href="${prefix}"><a href="${prefix}2">`]:
    '<a href="P/a"><a href="P"><a href="PP2">',
  '<form action="/f"><button formaction=/g><video src="/v" poster="/p"><base href="/">':
    '<form action="P/f"><button formaction=P/g><video src="P/v" poster="P/p"><base href="P/">',
  '<a title="/t" data-href="/d"><div href="/h"><p>href="/x"':
    '<a title="/t" data-href="/d"><div href="/h"><p>href="/x"',
  '<a title=">" href="/a"><a title=\'"\' href="/b"><a/href="/c">':
    '<a title=">" href="P/a"><a title=\'"\' href="P/b"><a/href="P/c">',
  '<!-- <a href="/a"> --><a href="/b"><!doctype html><a href="/c">':
    '<!-- <a href="/a"> --><a href="P/b"><!doctype html><a href="P/c">',
  '<script src="/s.js">"<a href="/a">"</script ><a href="/b">':
    '<script src="P/s.js">"<a href="/a">"</script ><a href="P/b">',
  '<textarea><a href="/a"></textareas></textarea><a href="/b">':
    '<textarea><a href="/a"></textareas></textarea><a href="P/b">',
  '1 < 2 <3 </> <a href="/a">': '1 < 2 <3 </> <a href="P/a">',
  '</a href="/a"><a href="/b"': '</a href="/a"><a href="P/b"',
  '<a href><a href=><a href= "/b" href="/c"><a href=" /d">':
    '<a href><a href=><a href= "P/b" href="P/c"><a href=" P/d">',
  '<constructor toString="/a"><a constructor="/b">': '<constructor toString="/a"><a constructor="/b">',
};

describe('the links of a page', () => {
  for (const [page, wanted] of Object.entries(cases))
    test(`${page.replaceAll(prefix, 'P').slice(0, 60)}`, async () => {
      assert.equal((await rewriteText(page)).replaceAll(prefix, 'P'), wanted);
    });

  test('are the same however the page is cut, and its other bytes stay', () =>
    withSeed(async (random) => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      const page = Buffer.concat([
        Buffer.from(Object.keys(cases).join('\n')),
        bytes,
        Buffer.from('<a href="/é">'),
      ]);
      const whole = await rewrite([page]);
      assert.ok(whole.includes(bytes));
      for (let round = 0; round < 100; round += 1) {
        const pieces: Buffer[] = [];
        for (let at = 0; at < page.length; ) {
          const length = 1 + below(round < 50 ? 4 : 200, random);
          pieces.push(page.subarray(at, at + length));
          at += length;
        }
        assert.deepEqual(await rewrite(pieces), whole);
      }
    }));

  test('need little memory, whatever is never closed', async () => {
    const open = [
      '<',
      '<a ',
      '<a x',
      '<a href="',
      '<a title="',
      '<!--',
      '<!',
      '<script>',
      '<script></scrip',
      'text',
    ];
    for (const start of open) {
      const rewriter = createLinkRewriter(moved);
      let bytes = 0;
      rewriter.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      rewriter.write(start);
      let sent = start.length;
      for (let round = 0; round < 64; round += 1) {
        sent += 64 * 1024;
        if (!rewriter.write(Buffer.alloc(64 * 1024, 'x'))) await once(rewriter, 'drain');
      }
      assert.ok(sent - bytes < 256, `${start} keeps ${sent - bytes} bytes`);
    }
  });
});
