/**
 * The entry of the writer thread: opens the store, then works while there is work and waits for messages
 * while there is none. Its build is `sqlite-writer.js`.
 */
import type { MessagePort } from 'node:worker_threads';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { collectAtRest } from '../../../../base/bounded-memory/index.ts';
import type { FromWriter, ToWriter, WriterSettings } from '../messages.ts';
import { Connection } from './connection.ts';
import { openError } from './errors.ts';
import { transferOf } from './transfer.ts';
import { WriterLoop } from './writer-loop.ts';

function main(port: MessagePort, settings: WriterSettings): void {
  const post = (message: FromWriter) => port.postMessage(message, transferOf(message));
  let connection: Connection;
  try {
    connection = new Connection(settings);
  } catch (error) {
    const { code, message } = openError(settings.file, error);
    post({ type: 'openFailed', code, message });
    return;
  }
  const { durable: revision, compacted } = connection.state;
  const loop = new WriterLoop(connection, post);
  const run = serve(port, connection, loop, post);
  const { fresh, groupSuffix, origin } = connection;
  post({ type: 'opened', revision, compacted, fresh, groupSuffix, origin });
  run();
}

function serve(
  port: MessagePort,
  connection: Connection,
  loop: WriterLoop,
  post: (message: FromWriter) => void,
): () => void {
  let later: NodeJS.Timeout | undefined;
  const run = () => {
    clearTimeout(later);
    do takeWaiting(port, loop);
    while (loop.work());
    if (loop.closing) {
      loop.finish();
      connection[Symbol.dispose]();
      post({ type: 'closed' });
      port.close();
      return;
    }
    const restMs = loop.rest();
    if (restMs !== undefined) later = setTimeout(run, restMs);
  };
  port.on('message', (message: ToWriter) => {
    loop.take(message);
    run();
  });
  return run;
}

/** Takes the messages that arrived while the loop worked, without returning to the event loop. */
function takeWaiting(port: MessagePort, loop: WriterLoop): void {
  for (;;) {
    const waiting: { message: ToWriter } | undefined = receiveMessageOnPort(port);
    if (waiting === undefined) return;
    loop.take(waiting.message);
  }
}

collectAtRest();
if (parentPort !== null) main(parentPort, workerData);
