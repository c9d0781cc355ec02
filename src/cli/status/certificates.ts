import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describeError, errorCode, readRegularFile } from '../../base/index.ts';
import { validity } from '../../base/x509/index.ts';
import type { Finding } from './report.ts';

const dayMs = 24 * 3600_000;
/** Of the certificates' folder; more files than that are not looked at. */
const maxFiles = 100;
const maxBytes = 256 * 1024;

interface Expiry {
  readonly name: string;
  readonly endMs: number;
  /** From when on an unrenewed certificate is worth a warning: a tenth of its lifetime, at most 30 days, before its end. */
  readonly dueMs: number;
}

/** When the certificates in the folder of keys expire. The agent renews those of its own by itself. */
export async function inspectCertificates(folder: string, nowMs: number): Promise<Finding> {
  const part = 'certificates';
  try {
    const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(?:crt|pem)$/.test(name));
    const read = await Promise.all(names.slice(0, maxFiles).map((name) => readExpiry(folder, name)));
    const all = read.filter((each) => each !== undefined).sort((a, b) => a.endMs - b.endMs);
    const [first] = all;
    if (first === undefined) return { part, state: 'unknown', found: `there are none in ${folder}` };
    const end = new Date(first.endMs).toISOString().slice(0, 10);
    const days = Math.floor((first.endMs - nowMs) / dayMs);
    if (days < 0)
      return {
        part,
        state: 'failed',
        found: `${first.name} has expired on ${end}`,
        mend: 'systemctl restart nodeward',
      };
    const found = `the first of ${all.length} to expire is ${first.name}, on ${end} (in ${days} days)`;
    const due = all.some(({ dueMs }) => dueMs < nowMs);
    return due
      ? { part, state: 'warning', found, mend: 'journalctl -u nodeward -p warning' }
      : { part, state: 'ok', found };
  } catch (error) {
    const why =
      errorCode(error) === 'EACCES' ? `${folder} cannot be read by this user` : describeError(error);
    return { part, state: 'unknown', found: why };
  }
}

/** Undefined for a file without a certificate. */
async function readExpiry(folder: string, name: string): Promise<Expiry | undefined> {
  const text = Buffer.from(await readRegularFile(join(folder, name), { limitBytes: maxBytes })).toString();
  if (!text.includes('-----BEGIN CERTIFICATE-----')) return undefined;
  const { notBeforeMs, notAfterMs } = validity(text);
  const margin = Math.min((notAfterMs - notBeforeMs) / 10, 30 * dayMs);
  return { name, endMs: notAfterMs, dueMs: notAfterMs - margin };
}
