/** A container runtime that is scripted: a real gRPC server on a unix socket, and one imaginary container. */
import { rm } from 'node:fs/promises';
import type {
  DescMessage,
  DescMethod,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { ServerUnaryCall, ServiceDefinition, sendUnaryData } from '@grpc/grpc-js';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import {
  ContainerState,
  ImageService,
  PodSandboxState,
  RuntimeService,
} from '../../../../src/agent/runtime/gen/cri_pb.js';
import { Introspection } from '../../../../src/agent/runtime/gen/introspection_pb.js';
import { Status } from '../../../../src/agent/runtime/gen/task_pb.js';
import { Tasks } from '../../../../src/agent/runtime/gen/tasks_pb.js';

/** How a call came. */
export interface Incoming {
  /** Aborts when the client cancels the call or goes away. */
  cancelled: AbortSignal;
  /** Infinity when the client sent none. */
  deadline: Date | number;
  header(name: string): string | undefined;
}

export interface FakeRuntime extends AsyncDisposable {
  readonly endpoint: string;
  /** Names of the methods that were called, in order. */
  readonly calls: string[];
  /** What the task of the container does; Get and Resume work on it. */
  task: Status;
  /** Replaces the answer of a method; throw a `refusal` for an error. Without any it is UNIMPLEMENTED. */
  on<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    answer: (request: MessageShape<I>, call: Incoming) => MessageInitShape<O> | Promise<MessageInitShape<O>>,
  ): void;
  off(method: DescMethodUnary): void;
  start(): Promise<void>;
  /** Drops every connection at once, as a killed process does; calls under way are lost. */
  kill(): Promise<void>;
}

/** What a handler throws to answer with an error. */
export function refusal(code: status, details: string): Error {
  return Object.assign(new Error(details), { code, details });
}

export const never = (): Promise<never> => new Promise(() => undefined);

type RawCall = ServerUnaryCall<Uint8Array, Uint8Array>;
type Answer = (bytes: Uint8Array, call: Incoming) => Promise<Uint8Array>;

/** Listens at `socket`; the runtime is healthy and has container `c1`, named `main`, of pod `default/web`. */
export async function startFakeRuntime(socket: string): Promise<FakeRuntime> {
  const answers = new Map<string, Answer>();
  const calls: string[] = [];
  let server: Server | undefined;

  async function serve(method: DescMethodUnary, raw: RawCall): Promise<Uint8Array> {
    calls.push(method.name);
    const answer = answers.get(pathOf(method));
    if (!answer) throw refusal(status.UNIMPLEMENTED, `method ${method.name} not implemented`);
    const cancelled = new AbortController();
    raw.on('cancelled', () => cancelled.abort());
    const header = (name: string): string | undefined => raw.metadata.get(name)[0]?.toString();
    return await answer(raw.request, { cancelled: cancelled.signal, deadline: raw.getDeadline(), header });
  }

  function definition(methods: readonly DescMethodUnary[]): ServiceDefinition {
    const entries = methods.map((method) => {
      const pass = (bytes: Uint8Array): Buffer => Buffer.from(bytes);
      const codec = {
        requestSerialize: pass,
        requestDeserialize: pass,
        responseSerialize: pass,
        responseDeserialize: pass,
      };
      return [method.name, { path: pathOf(method), requestStream: false, responseStream: false, ...codec }];
    });
    return Object.fromEntries(entries);
  }

  async function start(): Promise<void> {
    server = new Server({ 'grpc.max_send_message_length': -1 });
    for (const service of [RuntimeService, ImageService, Tasks, Introspection]) {
      const methods = service.methods.filter(isUnary);
      const handlers = methods.map((method) => [
        method.name,
        (raw: RawCall, reply: sendUnaryData<Uint8Array>) => {
          serve(method, raw).then((bytes) => reply(null, bytes), reply);
        },
      ]);
      server.addService(definition(methods), Object.fromEntries(handlers));
    }
    const bound = Promise.withResolvers<void>();
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => {
      if (error) bound.reject(error);
      else bound.resolve();
    });
    await bound.promise;
  }

  const fake: FakeRuntime = {
    endpoint: `unix://${socket}`,
    calls,
    task: Status.RUNNING,
    on(method, answer) {
      answers.set(pathOf(method), async (bytes, call) => {
        const response = await answer(fromBinary(method.input, bytes), call);
        return toBinary(method.output, create(method.output, response));
      });
    },
    off: (method) => void answers.delete(pathOf(method)),
    start,
    async kill() {
      server?.forceShutdown();
      server = undefined;
      await rm(socket, { force: true });
    },
    [Symbol.asyncDispose]: () => fake.kill(),
  };
  healthy(fake);
  await start();
  return fake;
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === 'unary';
}

function pathOf(method: DescMethodUnary): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function healthy(fake: FakeRuntime): void {
  const { method } = RuntimeService;
  fake.on(method.version, () => ({ runtimeName: 'containerd', runtimeVersion: '2.1.9' }));
  const conditions = ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true }));
  fake.on(method.status, () => ({ status: { conditions } }));
  const metadata = { name: 'web', namespace: 'default', uid: 'u1' };
  fake.on(method.listPodSandbox, () => ({
    items: [{ id: 's1', metadata, state: PodSandboxState.SANDBOX_READY }],
  }));
  fake.on(method.listContainers, ({ filter }) => {
    const container = { id: 'c1', podSandboxId: 's1', state: ContainerState.CONTAINER_RUNNING };
    return {
      containers: filter?.podSandboxId === 's1' ? [{ ...container, metadata: { name: 'main' } }] : [],
    };
  });
  fake.on(Tasks.method.get, ({ containerId }) => {
    if (containerId !== 'c1') throw refusal(status.NOT_FOUND, `no task ${containerId}`);
    return { process: { containerId, status: fake.task } };
  });
  fake.on(Tasks.method.resume, () => {
    if (fake.task !== Status.PAUSED)
      throw refusal(status.FAILED_PRECONDITION, 'cannot resume a running task');
    fake.task = Status.RUNNING;
    return {};
  });
}
