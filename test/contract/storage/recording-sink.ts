import type {
  EventEncoding,
  Sink,
  Stored,
  WatchEnd,
  WatchEventType,
} from '../../../src/apiserver/storage/index.ts';
import { bytes, eventually, textOf } from './scenario.ts';

/** Events as text: `MODIFIED /registry/… 2@17`. Counts how often it had to encode. */
export class TextEncoding implements EventEncoding {
  encoded = 0;

  event(type: WatchEventType, object: Stored): Uint8Array {
    this.encoded++;
    return bytes(`${type} ${object.key} ${textOf(object)}@${object.revision}`);
  }

  bookmark(revision: number, initialEventsEnd: boolean): Uint8Array {
    return bytes(`BOOKMARK ${revision}${initialEventsEnd ? ' end' : ''}`);
  }
}

/** Keeps what it is given. While `room` is false it says that it is full. */
export class RecordingSink implements Sink {
  readonly frames: Uint8Array[] = [];
  readonly calls: string[] = [];
  pushes = 0;
  room = true;

  get events(): readonly string[] {
    return this.frames.map((frame) => Buffer.from(frame).toString());
  }

  get ended(): string | undefined {
    return this.calls.find((call) => call.startsWith('end'));
  }

  start(): void {
    this.calls.push('start');
  }

  push(frames: readonly Uint8Array[]): boolean {
    this.pushes++;
    if (this.calls.at(-1) !== 'push') this.calls.push('push');
    this.frames.push(...frames);
    return this.room;
  }

  end(why: WatchEnd): void {
    this.calls.push(`end ${why}`);
  }

  async has(count: number): Promise<void> {
    await eventually(`${count} events, last: ${this.events.at(-1)}`, () => this.frames.length >= count);
  }

  async hasEnded(): Promise<void> {
    await eventually('the watch ends', () => this.ended !== undefined);
  }
}

export const everything = () => true;
