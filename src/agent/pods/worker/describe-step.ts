import type { Step } from '../plan/index.ts';

/** For people, after "cannot": `start container web`. */
export function describeStep(step: Step): string {
  switch (step.kind) {
    case 'prepare':
      return 'make the folders and the cgroup';
    case 'runSandbox':
      return `make the sandbox, attempt ${step.attempt}`;
    case 'stopSandbox':
      return `stop sandbox ${shorten(step.sandboxId)}`;
    case 'removeSandbox':
      return `remove sandbox ${shorten(step.sandboxId)}`;
    case 'start':
      return `start container ${step.container}, attempt ${step.attempt}`;
    case 'stop':
      return `stop container ${step.container} within ${step.graceSeconds} s`;
    case 'resize': {
      const names = step.containers.map(({ container }) => container).join(', ');
      return names === '' ? 'resize the cgroup of the pod' : `resize ${names}`;
    }
    case 'removeContainer':
      return `remove an ended container ${step.container}`;
    case 'release':
      return 'release volumes, devices and the cgroup';
  }
}

const shorten = (id: string): string => id.slice(0, 12);

/** Whether the runtime may have something else afterwards, so that it is asked. */
export function changesRuntime({ kind }: Step): boolean {
  return kind !== 'prepare' && kind !== 'release';
}
