/** Streams over one connection, as clients have them into pods: SPDY/3.1, WebSocket, and connections that are joined. */
export { type Carried, type CloseNotice, formatFailure } from './close-notice.ts';
export { createCloseNotice } from './create-notice.ts';
export { type FrameFormat, FrameReader } from './frame-reader.ts';
export { type Ended, type Ending, followEndings, type JoinOptions, joinStreams } from './join.ts';
export { SpdyClient, type SpdySink } from './spdy-client.ts';
export { webSocketFormat } from './web-socket-notice.ts';
