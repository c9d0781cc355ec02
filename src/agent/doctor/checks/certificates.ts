import { join } from 'node:path';
import { describeError } from '../../../base/index.ts';
import { validity } from '../../../base/x509/index.ts';
import { formatDuration, formatList } from '../format.ts';
import type { Host } from '../host.ts';
import type { Check, Finding } from '../types.ts';
import { asRoot, failed, ok, unknown, warning } from '../types.ts';

/** `folders` hold the certificates of this node and its control plane; `files` are others that the configuration names. */
export function createCertificateCheck(folders: readonly string[], files: readonly string[]): Check {
  return {
    id: 'certificates',
    topic: 'agent',
    title: 'ends of certificates',
    needed: 'valid now and for some time; nodeward renews its own in the last third of their life',
    async run(host, signal) {
      const found: Certificate[] = [];
      for (const folder of new Set(folders)) {
        const looked = await host.inspectPath({ path: folder, entries: 1000, textOf: ['.crt'] }, signal);
        if ('fault' in looked) {
          if (looked.fault === 'ENOENT') continue;
          return unknown(`${folder}: ${looked.fault}`, asRoot);
        }
        for (const { name, text } of looked.found.entries ?? [])
          if (text !== undefined) found.push({ path: join(folder, name), pem: text });
      }
      for (const path of files) found.push(...(await readCertificateFile(host, path, signal)));
      return judge(found, host.clock.now());
    },
  };
}

interface Certificate {
  readonly path: string;
  readonly pem: string;
}

async function readCertificateFile(host: Host, path: string, signal: AbortSignal): Promise<Certificate[]> {
  const slash = path.lastIndexOf('/');
  const [folder, name] = [path.slice(0, slash) || '/', path.slice(slash + 1)];
  const looked = await host.inspectPath({ path: folder, entries: 10_000, textOf: [name] }, signal);
  const entries = 'found' in looked ? (looked.found.entries ?? []) : [];
  return entries.flatMap((entry) =>
    entry.name === name && entry.text !== undefined ? [{ path, pem: entry.text }] : [],
  );
}

const dayMs = 24 * 3600_000;

function judge(certificates: readonly Certificate[], nowMs: number): Finding {
  const problems = { expired: [] as string[], soon: [] as string[], future: [] as string[] };
  let next = Number.POSITIVE_INFINITY;
  for (const { path, pem } of certificates) {
    try {
      const { notBeforeMs, notAfterMs } = validity(pem);
      const leftMs = notAfterMs - nowMs;
      next = Math.min(next, leftMs);
      if (leftMs <= 0) problems.expired.push(`${path} expired ${formatDuration(leftMs)} ago`);
      else if (nowMs < notBeforeMs)
        problems.future.push(`${path} is valid only in ${formatDuration(notBeforeMs - nowMs)}`);
      else if (leftMs < Math.min(7 * dayMs, (notAfterMs - notBeforeMs) / 10))
        problems.soon.push(`${path} ends in ${formatDuration(leftMs)}`);
    } catch (error) {
      problems.expired.push(`${path} cannot be read: ${describeError(error)}`);
    }
  }
  if (problems.expired.length > 0)
    return failed(
      formatList(problems.expired),
      'start nodeward, which renews its own, and replace those that the configuration names',
    );
  if (problems.future.length > 0)
    return failed(formatList(problems.future), 'look at the clock: it is behind that of who made them');
  if (problems.soon.length > 0)
    return warning(
      formatList(problems.soon),
      'look into the log why they are not renewed, and replace those that the configuration names',
    );
  if (certificates.length === 0) return ok('there are none yet');
  return ok(`${certificates.length}, the first ends in ${formatDuration(next)}`);
}
