import { gzipSync } from 'node:zlib';
import type { Environment } from '../../model/words.js';
import { brasilia } from './documents.js';
import type { RestAnswer } from './government.js';

export interface AdnDocument {
  /** Null in the events of a note. */
  readonly nsu: number | null;
  readonly type: string;
  readonly key: string;
  readonly xml: string;
  readonly at: number;
}

const packed = (xml: string) => gzipSync(xml).toString('base64');

/**
 * LoteDistribuicaoNSUResponse as it comes, which is not quite as it is specified: labelled text/plain, times of documents without an
 * offset and with a fraction of any length, no TipoEvento, `Mensagem` an empty object, and the end of the walk a 404.
 */
export function adnAnswer(
  environment: Environment,
  at: number,
  what: { readonly documents: readonly AdnDocument[] } | { readonly rejection: string },
): RestAnswer {
  const documents = 'documents' in what ? what.documents : [];
  const rejection = 'rejection' in what ? what.rejection : null;
  const status = rejection
    ? 'REJEICAO'
    : documents.length > 0
      ? 'DOCUMENTOS_LOCALIZADOS'
      : 'NENHUM_DOCUMENTO_LOCALIZADO';
  const code = rejection ?? 'E2220';
  const body = {
    StatusProcessamento: status,
    LoteDFe: rejection
      ? null
      : documents.map(({ nsu, type, key, xml, at: made }) => ({
          NSU: nsu,
          ChaveAcesso: key,
          TipoDocumento: type,
          ArquivoXml: packed(xml),
          DataHoraGeracao: `${brasilia(made).slice(0, 19)}.${made % 1_000}`,
        })),
    Alertas: null,
    Erros:
      documents.length > 0
        ? null
        : [{ Mensagem: {}, Codigo: code, Descricao: rejection ? 'Rejeição' : 'Nenhum documento localizado' }],
    TipoAmbiente: environment === 'production' ? 'PRODUCAO' : 'HOMOLOGACAO',
    VersaoAplicativo: '1.0.0.0',
    DataHoraProcessamento: brasilia(at).replace('-03:00', '.123-03:00'),
  };
  const httpStatus = rejection ? 400 : documents.length > 0 ? 200 : 404;
  return { status: httpStatus, contentType: 'text/plain; charset=utf-8', body: JSON.stringify(body) };
}

/** A note as Sefin Nacional gives it. */
export function sefinNote(environment: Environment, at: number, key: string, xml: string): RestAnswer {
  const body = {
    tipoAmbiente: environment === 'production' ? 1 : 2,
    versaoAplicativo: 'SefinNacional_1.6.0',
    dataHoraProcessamento: brasilia(at),
    chaveAcesso: key,
    nfseXmlGZipB64: packed(xml),
  };
  return { status: 200, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}
