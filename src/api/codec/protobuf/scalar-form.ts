import type { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** The wire format of a scalar of the schema. */
export interface ScalarForm {
  wireType: WireType;
  /** The JSON value, in its canonical form; undefined where JSON has null. Throws on malformed bytes. */
  read(reader: BinaryReader): unknown;
  /** Writes the value without the tag. Throws ProtobufError when it is of another type. */
  write(writer: BinaryWriter, value: unknown): void;
  /** The value of an entry of a map that has no value on the wire. */
  absent?: unknown;
}
