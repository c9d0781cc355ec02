import type { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** How a scalar of the schema stands on the wire. */
export interface ScalarForm {
  wireType: WireType;
  /** The JSON value, in its canonical form; undefined for what JSON says with null. Throws on malformed bytes. */
  read(reader: BinaryReader): unknown;
  /** Without the tag. Throws ProtobufError when the value is of another type. */
  write(writer: BinaryWriter, value: unknown): void;
  /** What is meant where the bytes hold no value at all and yet there is one: in the entry of a map. */
  absent?: unknown;
}
