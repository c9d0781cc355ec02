import type { IncomingMessage } from 'node:http';
import { ServerResponse } from 'node:http';
import type { Server } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/*
 * Requests that ask to go on with another protocol on their connection (RFC 9110, 7.8). They go through the same hooks and
 * routes as all others. A handler that agrees takes the connection over; any other answer ends it.
 */

/** The connection of a request, and what has come on it behind the request. */
export interface Upgrade {
  readonly socket: Socket;
  readonly head: Buffer;
  /**
   * From now on nobody else reads or writes there. To be called once, after the framework was kept out by `hijack`. The
   * response counts as sent, with this code, when the connection closes.
   */
  take(code: number): void;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** Undefined for a request that does not ask for it, or on a path where that is not served. */
export function upgradeOf(request: IncomingMessage): Upgrade | undefined {
  return upgrades.get(request);
}

interface Routing {
  readonly server: Server;
  routing(request: IncomingMessage, response: ServerResponse): void;
}

/** Routes what asks for an upgrade; which requests those are, the server's `shouldUpgradeCallback` says. */
export function serveUpgrades(app: Routing): void {
  app.server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    if (!(duplex instanceof Socket)) {
      duplex.destroy();
      return;
    }
    const fail = () => duplex.destroy();
    duplex.on('error', fail);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    if (!assign(response, duplex)) {
      duplex.destroy();
      return;
    }
    const end = () => duplex.destroySoon();
    response.once('finish', end);
    upgrades.set(request, {
      socket: duplex,
      head,
      take(code) {
        response.statusCode = code;
        response.off('finish', end);
        response.detachSocket(duplex);
        duplex.off('error', fail);
        duplex.once('close', () => {
          response.emit('finish');
          response.emit('close');
        });
      },
    });
    app.routing(request, response);
  });
}

/** Returns false while an answer to an earlier request is still to be sent there: no client has to ask for an upgrade then. */
function assign(response: ServerResponse, socket: Socket): boolean {
  try {
    response.assignSocket(socket);
    return true;
  } catch {
    return false;
  }
}
