import { hash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { describeError, ExitError, exitCodes, readRegularFile } from '../../base/index.ts';
import type { Identity } from './authenticator.ts';
import type { TokenAuthenticator } from './bearer.ts';
import { splitCsvLine } from './csv.ts';
import { authenticatedGroup } from './user.ts';

/** Users by the digests of their tokens, so that none lies about in memory and none is compared letter by letter. */
export type TokenUsers = ReadonlyMap<string, Identity>;

const limitBytes = 4 * 1024 * 1024;
const shortestToken = 16;

/**
 * Reads a file of tokens: lines of `token,user,uid` and, where wanted, `"group1,group2"`, as the reference's; empty lines
 * and lines that begin with # are passed over. Throws an ExitError that tells every line that is wrong, and no token.
 */
export async function readTokenFile(path: string): Promise<TokenUsers> {
  const text = await read(path);
  const users = new Map<string, Identity>();
  const problems: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [token = '', name = '', uid = '', groups = ''] = splitCsvLine(line).map((cell) => cell.trim());
    const digest = digestOf(token);
    const problem =
      problemOf(token, name) ?? (users.has(digest) ? 'its token stands above already' : undefined);
    if (problem !== undefined) problems.push(`line ${index + 1}: ${problem}`);
    else users.set(digest, identityOf(name, uid, groups));
  }
  if (problems.length === 0) return users;
  throw new ExitError(
    exitCodes.configuration,
    `the token file ${path} cannot be used: ${problems.join('; ')}`,
  );
}

/** Bearer tokens that an administrator has listed in a file. They do not end. */
export function tokenFileAuthenticator(users: TokenUsers): TokenAuthenticator {
  return { identify: (token) => users.get(digestOf(token)) };
}

async function read(path: string): Promise<string> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) throw new Error('others than its owner can read or write it: chmod 600');
    return (await readRegularFile(path, { limitBytes })).toString('utf8');
  } catch (error) {
    const why = `the token file ${path} cannot be used: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, why, { cause: error });
  }
}

function problemOf(token: string, name: string): string | undefined {
  if (!/^[\x21-\x7e]*$/.test(token)) return 'its token has other than visible ASCII characters';
  if (token.length < shortestToken) return `its token is shorter than ${shortestToken} characters`;
  return name === '' ? 'it has no user behind its token' : undefined;
}

function identityOf(name: string, uid: string, groups: string): Identity {
  const named = groups.split(',').map((group) => group.trim());
  const all = [...new Set([...named.filter((group) => group !== ''), authenticatedGroup])];
  const user = { name, groups: all, extra: {}, ...(uid === '' ? {} : { uid }) };
  return { user, untilMs: Number.POSITIVE_INFINITY };
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
