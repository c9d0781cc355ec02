/** Containers of the lab's image for pods, each for something that a test wants to see. */
import type { Pod } from '../../../src/api/index.ts';
import { image } from '../lab/index.ts';

export type PodSpec = NonNullable<Pod['spec']>;
export type Container = PodSpec['containers'][number];
type More = Partial<Container>;

/** Runs a shell script as the first process. */
export function script(name: string, text: string, more: More = {}): Container {
  return { name, image, imagePullPolicy: 'IfNotPresent', command: ['/bin/sh', '-c', text], ...more };
}

/** Runs until SIGTERM, and ends with 0 then. */
export function sleeper(name = 'main', more: More = {}): Container {
  return script(name, `trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done`, more);
}

/** Runs on when it is told to stop. */
export function stubborn(name = 'main', more: More = {}): Container {
  return script(name, `trap '' TERM; while :; do sleep 1; done`, more);
}

/** Ends by itself, at once or later. */
export function ending(code: number, { afterSeconds = 0, name = 'main', ...more }: Ending = {}): Container {
  return script(name, `sleep ${afterSeconds}; exit ${code}`, more);
}

type Ending = More & { afterSeconds?: number };

/** Answers HTTP requests for `/` with a text; ends on SIGTERM. */
export function webServer(port: number, text: string, more: More = {}): Container {
  const page = `mkdir -p /tmp/www; echo '${text}' > /tmp/www/index.html`;
  const serve = `trap 'exit 0' TERM; ${page}; httpd -f -p ${port} -h /tmp/www & wait $!`; // PID 1 obeys no signal unasked
  return script('main', serve, { ports: [{ containerPort: port }], ...more });
}

/** Starts processes that start processes; what holds it is the limit of its pod. */
export function forkBomb(name = 'main', more: More = {}): Container {
  return script(name, `trap 'exit 0' TERM; bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done`, more);
}

/** Appends a line to a file in the volume `shared`, mounted at /shared, and goes on with a script. */
export function noting(name: string, text: string, then = '', more: More = {}): Container {
  const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
  return script(name, `echo '${text}' >> /shared/notes; ${then}`, { volumeMounts, ...more });
}

/** For the pods whose containers share notes. */
export const sharedVolume: NonNullable<PodSpec['volumes']> = [{ name: 'shared', emptyDir: {} }];
