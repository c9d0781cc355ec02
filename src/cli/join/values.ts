import { InvalidArgumentError } from 'commander';
import { checkName } from '../../api/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';

const defaultPort = 6443;

/** `https://HOST:PORT` from that, `HOST:PORT` or `HOST`. */
export function parseServer(text: string): string {
  const withScheme = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  const isPlain =
    url?.protocol === 'https:' && url.pathname === '/' && url.username === '' && url.search === '';
  if (url === undefined || !isPlain)
    throw new InvalidArgumentError('It must be an address: HOST or HOST:PORT.');
  const hasPort = /:\d+\/?$/.test(withScheme.replace(/^https:\/\/\[[^\]]*\]/i, 'https://x'));
  const port = hasPort ? url.port || '443' : String(defaultPort);
  return `https://${url.hostname}:${port}`;
}

export function parseHash(text: string, before: string[] = []): string[] {
  const hash = text.toLowerCase();
  if (/^sha256:[0-9a-f]{64}$/.test(hash)) return [...before, hash];
  throw new InvalidArgumentError('It must be sha256: and 64 hexadecimal digits.');
}

export function parseNodeName(text: string): string {
  const problem = checkName('subdomain', text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`It must be the name of a node: ${problem}.`);
}

/** Checked apart from the other flags: the message about an invalid value would repeat it, and it is a secret. */
export function checkToken(token: string): void {
  if (/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(token)) return;
  throw new ExitError(
    exitCodes.usage,
    '--token takes a token as "nodeward token create" prints it: six characters, a dot and sixteen characters',
  );
}
