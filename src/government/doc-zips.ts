import type { PageItem } from '../model/document.js';
import { tryParseNsu, ZERO_NSU } from '../model/nsu.js';
import type { XmlElement } from './xml-elements.js';

/**
 * The docZip elements of a distribution answer: Base64 of gzip, each with its place in the bytes, so that one ranged read of the archive gives one
 * document. An NSU that is missing or zero is none (case C15). Nothing is decoded here.
 */
export function readDocZips(
  answer: XmlElement,
  bytes: Uint8Array,
): { readonly items: readonly PageItem[]; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const items = answer.descendants('docZip').map((docZip, index): PageItem => {
    const { offset, length, verbatim } = docZip.range;
    const written = docZip.attribute('NSU');
    const nsu = written === null ? null : tryParseNsu(written);
    if (written !== null && nsu === null) warnings.push(`docZip ${index + 1}: NSU is no number`);
    if (!verbatim) warnings.push(`docZip ${index + 1}: interrupted by markup`);
    return {
      nsu: nsu === ZERO_NSU ? null : nsu,
      schema: docZip.attribute('schema'),
      offset,
      length,
      encoding: 'base64+gzip',
      content: bytes.subarray(offset, offset + length),
    };
  });
  return { items, warnings };
}
