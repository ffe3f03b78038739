import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { closePdfThreads, NoPdf, PdfFailed, type PdfRequest, renderPdf } from '../../src/pdf/index.js';
import { printPdf } from '../../src/pdf/print.js';
import { procNfe, sampleNote } from './nfe-sample.js';
import { correctionLetterXml } from './other-cases.js';

after(closePdfThreads);

const request = (xml: string, more: Partial<PdfRequest> = {}): PdfRequest => ({
  kind: 'procNFe',
  xml: Buffer.from(xml),
  situation: { state: 'authorized' },
  ...more,
});
const small = request(procNfe(sampleNote({ items: 3, reform: true })));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('renderPdf', () => {
  test('makes a PDF in a thread, the same as in this one', async () => {
    const pdf = await renderPdf(small);
    assert.equal(Buffer.from(pdf.subarray(0, 5)).toString(), '%PDF-');
    assert.equal(sha256(pdf), sha256(await printPdf(small)));
  });

  test('many at once', async () => {
    const requests = Array.from({ length: 24 }, (_, at) => request(procNfe(sampleNote({ items: 1 + (at % 5) }))));
    const pdfs = await Promise.all(requests.map((each) => renderPdf(each)));
    assert.equal(new Set(pdfs.map(sha256)).size, 5);
  });

  test('leaves the bytes that it was given alone', async () => {
    const xml = new Uint8Array(small.xml);
    await renderPdf({ ...small, xml });
    assert.equal(sha256(xml), sha256(small.xml));
  });

  test('stops at the time limit, and goes on with the next request', async () => {
    const large = request(procNfe(sampleNote({ items: 990, reform: true })));
    await assert.rejects(renderPdf(large, 15), (error) => error instanceof PdfFailed && error.failure === 'too_slow');
    assert.ok((await renderPdf(small)).length > 1000);
  });

  test('a kind without a printed form, and an event other than a correction letter', async () => {
    for (const kind of ['resNFe', 'resEvento', 'unknown'] as const) {
      await assert.rejects(renderPdf({ ...small, kind }), (error) => error instanceof NoPdf && error.kind === kind);
    }
    const cancellation = request(correctionLetterXml({ type: '110111' }), { kind: 'procEventoNFe' });
    await assert.rejects(renderPdf(cancellation), NoPdf);
  });

  test('errors arrive with their class and say nothing of the document', async () => {
    const broken = request('<nfeProc><segredo>Fulano de Tal');
    await assert.rejects(renderPdf(broken), (error) => {
      assert.ok(error instanceof PdfFailed);
      assert.equal(error.failure, 'unreadable');
      assert.doesNotMatch(error.message, /Fulano|segredo/);
      return true;
    });
  });
});

describe('the bytes', () => {
  test('are the same in another process, another time zone and another language', async () => {
    const program = `
      const { printPdf } = await import(${JSON.stringify(new URL('../../src/pdf/print.ts', import.meta.url).href)});
      const { createHash } = await import('node:crypto');
      const xml = Buffer.from(process.env.SAMPLE, 'base64');
      const pdf = await printPdf({ kind: 'procNFe', xml, situation: { state: 'authorized' } });
      console.log(createHash('sha256').update(pdf).digest('hex'));
    `;
    const here = sha256(await printPdf(small));
    for (const [TZ, LANG] of [
      ['Pacific/Kiritimati', 'ja_JP.UTF-8'],
      ['America/Los_Angeles', 'C'],
    ]) {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '--eval', program],
        { env: { ...process.env, TZ, LANG, SAMPLE: Buffer.from(small.xml).toString('base64') } },
      );
      assert.equal(stdout.trim(), here, TZ);
    }
  });

  test('change with the situation', async () => {
    const cancelled = await printPdf({ ...small, situation: { state: 'cancelled' } });
    assert.notEqual(sha256(cancelled), sha256(await printPdf(small)));
  });
});
