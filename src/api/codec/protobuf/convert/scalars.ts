import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { quote, skipValue, takeByte, unusual } from '../../../json/index.ts';
import type { Scalar } from '../../../schema/index.ts';
import { scalarForm } from '../scalars.ts';
import type { Conversion } from './conversion.ts';
import { closeLength, copyJson, openLength, writeBytesAsTheyAre, writeVarint } from './conversion.ts';
import { takeInteger } from './numbers.ts';
import { copyText, takeValue } from './texts.ts';
import { copyMicroseconds, copySeconds } from './times.ts';

/** Reads a value and writes it, without its tag. */
export type CopyValue = (conversion: Conversion) => void;

/** How a scalar is copied. Each writes what `ScalarForm.write` does. */
export function scalarCopier(scalar: Scalar): CopyValue {
  const whole = parsedCopier(scalar);
  switch (scalar) {
    case 'string':
      return copyText;
    case 'bool':
      return copyFlag;
    case 'int32':
      return integerCopier(0x7fff_ffff, whole);
    case 'int64':
      return integerCopier(Number.MAX_SAFE_INTEGER, whole);
    case 'time':
      return (conversion) => {
        if (!copySeconds(conversion)) whole(conversion);
      };
    case 'microTime':
      return (conversion) => {
        if (!copyMicroseconds(conversion)) whole(conversion);
      };
    case 'quantity':
      return copyQuantity;
    case 'intOrString':
      return intOrStringCopier(whole);
    case 'fieldsV1':
    case 'raw':
      return copyRaw;
    case 'double':
    case 'bytes':
    case 'duration':
      return whole;
  }
}

/** For what is rare: parses the value, and writes it as if the whole object had been parsed. */
function parsedCopier(scalar: Scalar): CopyValue {
  const form = scalarForm(scalar);
  return (conversion) => {
    const value = takeValue(conversion);
    const writer = new BinaryWriter();
    form.write(writer, value);
    writeBytesAsTheyAre(conversion, writer.finish());
  };
}

const letterT = 0x74;
const wordTrue = Buffer.from('true');
const wordFalse = Buffer.from('false');

function copyFlag(conversion: Conversion): void {
  const isTrue = conversion.json[conversion.at] === letterT;
  const word = isTrue ? wordTrue : wordFalse;
  for (let index = 0; index < word.length; index++) takeByte(conversion, word[index] ?? 0);
  writeVarint(conversion, isTrue ? 1 : 0);
}

function integerCopier(max: number, otherwise: CopyValue): CopyValue {
  return (conversion) => {
    const value = takeInteger(conversion);
    if (value > max) throw unusual(conversion);
    if (value < 0) otherwise(conversion);
    else writeVarint(conversion, value);
  };
}

function copyQuantity(conversion: Conversion): void {
  const lengthAt = openLength(conversion);
  writeVarint(conversion, 0x0a);
  copyText(conversion);
  closeLength(conversion, lengthAt);
}

function intOrStringCopier(otherwise: CopyValue): CopyValue {
  return (conversion) => {
    const isText = conversion.json[conversion.at] === quote;
    const value = isText ? 0 : takeInteger(conversion);
    if (value > 0x7fff_ffff) throw unusual(conversion);
    if (value < 0) {
      otherwise(conversion);
      return;
    }
    const lengthAt = openLength(conversion);
    writeVarint(conversion, 0x08);
    writeVarint(conversion, isText ? 1 : 0);
    writeVarint(conversion, 0x10);
    writeVarint(conversion, value);
    writeVarint(conversion, 0x1a);
    if (isText) copyText(conversion);
    else writeVarint(conversion, 0);
    closeLength(conversion, lengthAt);
  };
}

function copyRaw(conversion: Conversion): void {
  const lengthAt = openLength(conversion);
  writeVarint(conversion, 0x0a);
  const innerAt = openLength(conversion);
  copyJson(conversion, skipValue(conversion), conversion.at);
  closeLength(conversion, innerAt);
  closeLength(conversion, lengthAt);
}
