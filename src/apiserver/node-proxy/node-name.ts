import { StatusError } from '../../api/index.ts';

/** A node as named in the path. */
export interface NamedNode {
  name: string;
  /** The requested port; it must be the one that the node publishes. */
  port: number | undefined;
}

/** `NAME`, `NAME:PORT` or `https:NAME:PORT`; as in the reference, PORT may be empty. Throws 400. */
export function readNodeName(text: string): NamedNode {
  const parts = text.split(':');
  const [scheme, name = '', port = ''] = parts.length === 3 ? parts : ['', ...parts];
  const isKnown = parts.length <= 3 && name !== '' && /^\d{0,5}$/.test(port) && !name.includes('/');
  if (isKnown && (scheme === '' || scheme === 'https')) {
    return { name, port: port === '' ? undefined : Number(port) };
  }
  const quoted = JSON.stringify(text.slice(0, 100));
  throw new StatusError(
    'BadRequest',
    `invalid node request ${quoted}: it must be NAME, NAME:PORT or https:NAME:PORT`,
  );
}
