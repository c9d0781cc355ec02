import type { KeyObject } from 'node:crypto';
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto';
import { StatusError } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';

/*
 * A token holds the position at which a list continues. It is encrypted, because it may name an object that its holder must
 * not learn of, such as the last one that a selector skipped:
 *
 *     token = base64url( mark ‖ AES-256-CTR(payload, counter = first half of the mark) )
 *     mark  = HMAC-SHA256( SHA-256(the list) ‖ payload )
 *
 * The mark is computed from the whole payload, so no two payloads share a counter (the construction of RFC 5297), and a
 * token that was changed, or that belongs to another list, does not match its mark.
 */

/** The position at which a list continues: behind `after`, in the state at `revision`; undefined: in the newest state. */
export interface ListPosition {
  revision: number | undefined;
  after: string;
}

/** The tokens with which a client gets the next chunk of a list (specification, section 4.6). */
export interface ContinueTokens {
  /** `list` identifies the list: kind, namespace and selectors. */
  seal(list: string, position: ListPosition): string;
  /** `expired`: the token is older than 5 minutes. Throws 400 for a token that does not belong to this list. */
  open(list: string, token: string): ListPosition & { expired: boolean };
}

const lifetimeMs = 5 * 60_000;
/** More than the longest key needs. */
const maxTokenLength = 8_192;
const markBytes = 32;
const counterBytes = 16;

/** Servers with the same `key` (32 bytes) accept each other's tokens. The age of a token is measured by the wall clock. */
export function continueTokens(key: Uint8Array, clock: Pick<Clock, 'now'>): ContinueTokens {
  const markKey = deriveKey(key, 'mark');
  const cipherKey = deriveKey(key, 'cipher');
  const markOf = (list: string, payload: Buffer) =>
    createHmac('sha256', markKey).update(digest(list)).update(payload).digest();
  return {
    seal(list, { revision, after }) {
      const payload = Buffer.from(`${clock.now()} ${revision ?? 0} ${after}`);
      const mark = markOf(list, payload);
      const cipher = createCipheriv(algorithm, cipherKey, mark.subarray(0, counterBytes));
      return Buffer.concat([mark, cipher.update(payload), cipher.final()]).toString('base64url');
    },
    open(list, token) {
      const bytes = decodeToken(token);
      const mark = bytes.subarray(0, markBytes);
      const decipher = createDecipheriv(algorithm, cipherKey, mark.subarray(0, counterBytes));
      const payload = Buffer.concat([decipher.update(bytes.subarray(markBytes)), decipher.final()]);
      if (!timingSafeEqual(mark, markOf(list, payload))) throw notOfThisList();
      return parsePosition(payload, clock.now());
    },
  };
}

const algorithm = 'aes-256-ctr';

function deriveKey(key: Uint8Array, use: string): KeyObject {
  return createSecretKey(new Uint8Array(hkdfSync('sha256', key, '', use, 32)));
}

function digest(list: string): Buffer {
  return hash('sha256', list, 'buffer');
}

/** Decodes a token; throws unless it is in canonical form, so that no change goes unnoticed. */
function decodeToken(token: string): Buffer {
  const bytes = token.length > maxTokenLength ? Buffer.alloc(0) : Buffer.from(token, 'base64url');
  if (bytes.length > markBytes && bytes.toString('base64url') === token) return bytes;
  throw notOfThisList();
}

/** Parses a payload that this code has encrypted, so it needs no validation. */
function parsePosition(payload: Buffer, now: number): ListPosition & { expired: boolean } {
  const [issued = '', revision = ''] = payload.toString('latin1').split(' ', 2);
  const after = payload.toString('utf8').slice(`${issued} ${revision} `.length);
  return { revision: Number(revision) || undefined, after, expired: now - Number(issued) > lifetimeMs };
}

function notOfThisList(): StatusError {
  return new StatusError(
    'BadRequest',
    'continue key is not valid: it was changed, or belongs to a list of another kind, namespace or selection',
  );
}
