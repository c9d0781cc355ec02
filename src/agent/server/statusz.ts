import type { AgentRoute } from './route.ts';

/** One line of `/statusz`: a name, and the current text. */
export type StatusLine = readonly [name: string, format: () => string];

export interface StatuszOptions {
  /** When the agent was started, wall clock. */
  startedMs: number;
  uptimeMs(): number;
  version: string;
  /** After those that every component has. */
  lines: readonly StatusLine[];
  /** What is served, for the last line. */
  routes: readonly AgentRoute[];
}

/** The reference's text; programs should read `/metrics` and `/configz`. */
const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

/** `/statusz`: how the agent is, for people, in the form of the reference's. */
export function statuszRoute(options: StatuszOptions): AgentRoute {
  return {
    path: '/statusz',
    subresource: 'statusz',
    methods: {
      GET: ({ reply }) =>
        reply.header('content-type', 'text/plain; charset=utf-8').send(formatStatusz(options)),
    },
  };
}

function formatStatusz({ startedMs, uptimeMs, version, lines, routes }: StatuszOptions): string {
  const paths = [...new Set(['/statusz', ...routes.map(({ path }) => staticPart(path))])].sort();
  const rows: readonly (readonly [string, string])[] = [
    ['Started', new Date(startedMs).toUTCString()],
    ['Up', formatUptime(uptimeMs())],
    ['Node.js version', process.version],
    ['Binary version', version],
    ...lines.map(([name, format]) => [name, format()] as const),
    ['Paths', paths.join(' ')],
  ];
  const body = rows.map(([name, text]) => `${name}: ${text}`).join('\n');
  return `\nnodeward agent statusz\n${warning}\n\n${body}\n`;
}

/** `12 hr 03 min 09 sec` */
function formatUptime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

const staticPart = (path: string): string => path.split('/:', 1)[0] || '/';
