/** Modules of pdfkit 0.20 that its type package does not know. */

declare module 'pdfkit/standard-fonts/*' {
  const font: {
    readonly name: string;
    /** Advance widths in thousandths of the font size, for the bytes 32 to 255 of WinAnsi. */
    readonly glyphWidths: readonly number[];
  };
  export default font;
}

declare module 'pdfkit/output' {
  export function toBytes(document: PDFKit.PDFDocument): Promise<Uint8Array>;
}
