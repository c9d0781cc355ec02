import type { Connection } from './connection.ts';
import { RuntimeService } from './gen/cri_pb.js';

export interface StreamWishes {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** The calls by which streams begin. Each resolves to a URL of the runtime's streaming server, good once and for a minute; rejects with a RuntimeError. */
export interface StreamCalls {
  exec(
    containerId: string,
    command: readonly string[],
    wishes: StreamWishes,
    cancel: AbortSignal,
  ): Promise<string>;
  attach(containerId: string, wishes: StreamWishes, cancel: AbortSignal): Promise<string>;
  /** `ports`: those that the client names beforehand. */
  portForward(sandboxId: string, ports: readonly number[], cancel: AbortSignal): Promise<string>;
}

export function streamCalls(connection: Connection, deadlineMs: number): StreamCalls {
  const { exec, attach, portForward } = RuntimeService.method;
  return {
    async exec(containerId, command, wishes, cancel) {
      const request = { containerId, cmd: [...command], ...wishes };
      return (await connection.call(exec, request, { deadlineMs, cancel })).url;
    },
    async attach(containerId, wishes, cancel) {
      return (await connection.call(attach, { containerId, ...wishes }, { deadlineMs, cancel })).url;
    },
    async portForward(podSandboxId, ports, cancel) {
      const request = { podSandboxId, port: [...ports] };
      return (await connection.call(portForward, request, { deadlineMs, cancel })).url;
    },
  };
}
