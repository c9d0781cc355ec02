import type { FromWriter, PackedReplay, ToWriter } from '../messages.ts';

/** The buffers of a message, to be transferred instead of copied. */
export function transferOf(message: ToWriter | FromWriter): ArrayBuffer[] {
  switch (message.type) {
    case 'write':
      return [message.values.bytes.buffer];
    case 'group':
      return [message.states.values.bytes.buffer];
    case 'readDone': {
      const { answer } = message;
      if (typeof answer === 'string' || answer.kind === 'count') return [];
      return answer.kind === 'list' ? [answer.states.values.bytes.buffer] : replayBuffers(answer);
    }
    default:
      return [];
  }
}

function replayBuffers(replay: PackedReplay): ArrayBuffer[] {
  return [replay.next.values.bytes.buffer, replay.previous.values.bytes.buffer];
}
