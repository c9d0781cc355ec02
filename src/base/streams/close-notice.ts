/** What runs over a connection: a command with its input and outputs, or connections to ports. */
export type Carried = 'command' | 'ports';

/**
 * Follows the frames of both directions, so that between two of them the client learns why its connection ends, and can be asked
 * whether it is there. It keeps no payload, and changes nothing of what is passed on.
 */
export interface CloseNotice extends Disposable {
  /** Are called with all bytes of the client and of the server, in their order. */
  fromClient(bytes: Buffer): void;
  fromServer(bytes: Buffer): void;
  /** How many bytes of the server are known to be missing of the frame that has begun; 0: between frames. */
  readonly neededBytes: number;
  /** Whether the server has still to say how something ends. */
  readonly hasOpen: boolean;
  /** A frame by which nothing changes, for the client; empty where there is none. To be sent between frames. */
  readonly probe: Buffer;
  /** The frames that tell the client; empty where there is no way. To be called once, between frames. */
  frames(text: string): Promise<Buffer>;
}

/** Whether the errors of a protocol of streams are objects; those of older ones are text. */
export function tellsStatus(protocol: string): boolean {
  return /^v[45]\.(base64\.)?channel\.k8s\.io$/.test(protocol);
}

/** A failure as the protocol has it on its channel of errors. */
export function formatFailure(protocol: string, message: string): Buffer {
  if (!tellsStatus(protocol)) return Buffer.from(message);
  const details = { causes: [{ message }] };
  const status = { metadata: {}, status: 'Failure', message, reason: 'InternalError', details, code: 500 };
  return Buffer.from(JSON.stringify(status));
}
