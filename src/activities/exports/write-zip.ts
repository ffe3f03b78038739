import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { brasiliaTime } from '../../platform/brasilia.js';

/** A file to be put into a ZIP. */
export interface ZipEntry {
  readonly name: string;
  readonly content: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Its time in the ZIP. Milliseconds since 1970. */
  readonly at: number;
  /** False for what is compressed already. Default true. */
  readonly compress?: boolean;
}

/**
 * A ZIP as a stream; entries are read one after the other, when it is their turn. The same entries give the same bytes: on any day, in any
 * time zone. (Compression is zlib's; another version of Node may write other bytes for the same content.)
 */
export function zipOf(entries: Iterable<ZipEntry>): AsyncIterable<Uint8Array> {
  const zip = new ZipFile();
  for (const { name, content, at, compress = true } of entries) {
    const options = { mtime: dosTime(at), forceDosTimestamp: true, compress };
    zip.addReadStreamLazy(name, options, (give) => {
      const source = Readable.from(content());
      source.on('error', (error) => out.destroy(error));
      give(null, source);
    });
  }
  const out = zip.outputStream as Readable;
  zip.on('error', (error: Error) => out.destroy(error));
  zip.end();
  return out;
}

/** ZIP times have no zone: they show Brasília's clock. yazl reads a Date by this machine's zone, so it is given one that shows that clock here. */
function dosTime(at: number): Date {
  const { year, month, day, hour, minute, second } = brasiliaTime(at);
  return new Date(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}
