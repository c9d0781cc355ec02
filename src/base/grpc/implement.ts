import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type {
  MethodDefinition,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';

export interface Served {
  /** Aborts when the client has cancelled the call or is gone, or when the server closes. */
  readonly signal: AbortSignal;
}

/** Implements one method. The client receives a GrpcError as it is; any other error as INTERNAL without details. */
export type Handler<M> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: Served) => Promise<MessageInitShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, call: Served) => AsyncIterable<MessageInitShape<O>>
      : never;

/** Methods that are left out are UNIMPLEMENTED. */
export type Handlers<S extends DescService> = {
  readonly [K in keyof S['method']]?: Handler<S['method'][K]>;
};

export type UnaryCall = ServerUnaryCall<unknown, unknown>;
export type StreamingCall = ServerWritableStream<unknown, unknown>;
/** A handler without its types, which the types above have already checked against its method. */
type AnyHandler = (request: never, call: Served) => Promise<object> | AsyncIterable<object>;

/** Runs calls; provided by the server. */
export interface Runner {
  unary(call: UnaryCall, answer: (served: Served) => Promise<unknown>): Promise<unknown>;
  streaming(call: StreamingCall, answer: (served: Served) => AsyncIterable<unknown>): Promise<void>;
  fail(error: unknown): { code: number; details: string };
}

/** A service with its handlers. */
export interface Implementation {
  readonly definition: ServiceDefinition;
  handlers(runner: Runner): UntypedServiceImplementation;
}

/** Implements a service that protobuf-es describes. */
export function implement<S extends DescService>(service: S, handlers: Handlers<S>): Implementation {
  const given = new Map<string, unknown>(Object.entries(handlers));
  const methods = service.methods.flatMap((method): [DescMethod, AnyHandler][] => {
    const handler = given.get(method.localName);
    return typeof handler === 'function' ? [[method, handler as AnyHandler]] : [];
  });
  return {
    definition: Object.fromEntries(service.methods.map((method) => [method.localName, definitionOf(method)])),
    handlers: (runner) =>
      Object.fromEntries(
        methods.map(([method, handler]) => [method.localName, handle(method, handler, runner)]),
      ),
  };
}

function definitionOf(method: DescMethod): MethodDefinition<unknown, unknown> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: (message) =>
      Buffer.from(toBinary(method.input, create(method.input, message as Record<string, unknown>))),
    requestDeserialize: (bytes) => fromBinary(method.input, bytes),
    responseSerialize: (message) =>
      Buffer.from(toBinary(method.output, create(method.output, message as Record<string, unknown>))),
    responseDeserialize: (bytes) => fromBinary(method.output, bytes),
  };
}

function handle(method: DescMethod, handler: AnyHandler, runner: Runner): UntypedHandleCall {
  if (method.methodKind === 'server_streaming') {
    return (call: StreamingCall) => {
      const answer = (served: Served) => handler(call.request as never, served) as AsyncIterable<unknown>;
      runner.streaming(call, answer).then(
        () => call.end(),
        (error: unknown) => call.emit('error', runner.fail(error)),
      );
    };
  }
  return (call: UnaryCall, callback: (error: object | null, value?: unknown) => void) => {
    const answer = async (served: Served) =>
      await (handler(call.request as never, served) as Promise<object>);
    runner.unary(call, answer).then(
      (value) => callback(null, value),
      (error: unknown) => callback(runner.fail(error)),
    );
  };
}
