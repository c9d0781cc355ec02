/** What a container does. Each counts into `/data/count` ten times a second, and stops on SIGTERM. */
export interface Workload {
  readonly command: readonly string[];
}

const count =
  'n=0; while :; do n=$((n+1)); echo $n > /data/next; mv /data/next /data/count; echo $n; sleep 0.1; done';

/** Counts and does nothing else. */
export function counting(): Workload {
  return shell(count);
}

/**
 * Counts beside a process that holds that much memory of its own: dd has read it into its buffer and then
 * waits for a reader that never reads.
 */
export function holdingMemory(mebibytes: number): Workload {
  return shell(`dd if=/dev/zero bs=${mebibytes}M count=1 2>/dev/null | sleep 1000000 & ${count}`);
}

/** Runs until it is stopped, without output. */
export function idle(): Workload {
  return shell('while :; do sleep 3600 & wait $!; done');
}

/** Answers every HTTP request for `/` with a text. */
export function serving(port: number, text: string): Workload {
  return shell(`echo '${text}' > /data/index.html; httpd -f -p ${port} -h /data & wait $!`);
}

function shell(script: string): Workload {
  return { command: ['/bin/sh', '-c', `trap 'exit 0' TERM INT; ${script}`] };
}
