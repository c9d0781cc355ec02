import type {
  ImageRoomOptions,
  ImageState,
  ImageWish,
  PullSecrets,
} from '../../../../src/agent/images/index.ts';
import { ImageRoom } from '../../../../src/agent/images/index.ts';
import type { Happening, Subject } from '../../../../src/agent/node/events/index.ts';
import type { Pod } from '../../../../src/api/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { FakeImageService } from './fake-image-service.ts';

export interface RecordedEvent extends Happening {
  readonly subject: Subject;
}

/** A room with a fake image service, a clock that the test moves, and what it recorded. */
export function startImageLab(options: Partial<ImageRoomOptions> = {}) {
  const service = new FakeImageService();
  const clock = createManualClock();
  const events: RecordedEvent[] = [];
  const changes: string[] = [];
  const room = new ImageRoom({
    connection: service,
    timeoutMs: 120_000,
    pulls: { maxParallel: 1, ratePerSecond: 5, burst: 10 },
    secrets: secretsFrom(() => undefined),
    events: { record: (subject, happening) => void events.push({ ...happening, subject }) },
    clock,
    log: silentLogger(),
    ...options,
  });
  room.onChange((uid) => void changes.push(uid));
  return {
    service,
    clock,
    room,
    changes,
    events,
    /** `Reason: message` of each. */
    texts: () => events.map(({ reason, message }) => `${reason}: ${message}`),
    [Symbol.dispose]: () => room[Symbol.dispose](),
  };
}

/** Secrets that never change; `find` returns the data of one, in base64, or what is not known of it. */
export function secretsFrom(
  find: (namespace: string, name: string) => Record<string, string> | 'waiting' | 'refused' | undefined,
): PullSecrets {
  return {
    secret(namespace, name) {
      const data = find(namespace, name);
      if (typeof data === 'string') return { state: data, message: 'the API is away' };
      return data === undefined ? { state: 'absent' } : { state: 'present', object: { data } };
    },
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  };
}

export function podOf(name: string, more: Partial<Pod['spec']> = {}): Pod {
  const containers = [{ name: 'main', image: 'web:1' }];
  return {
    metadata: { name, namespace: 'shop', uid: `uid-${name}`, annotations: { team: 'a' } },
    spec: { containers, ...more },
  };
}

export function wishOf(change: Partial<ImageWish> = {}): ImageWish {
  return {
    pod: podOf('p'),
    container: 'main',
    image: 'web:1',
    pullPolicy: 'IfNotPresent',
    attempt: 0,
    ...change,
  };
}

/** `present ID`, `pulling MESSAGE` or `REASON: MESSAGE`. */
export function describeState(state: ImageState): string {
  if (state.state === 'present') return `present ${state.id}`;
  return state.state === 'pulling' ? `pulling ${state.message}` : `${state.reason}: ${state.message}`;
}
