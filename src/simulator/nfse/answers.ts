import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Environment } from '../../model/words.js';
import { dummySignature } from '../documents/signature.js';
import type { BoxItem } from './box.js';
import { brasilia } from './documents.js';
import type { RegisteredEvent } from './event-judge.js';
import type { NfseEventRequest } from './event-request.js';
import type { RestAnswer } from './rest.js';

const packed = (xml: string) => gzipSync(xml).toString('base64');

/** How a page is to be written otherwise than it is. */
export interface PageChange {
  /** What becomes of a document's ArquivoXml. */
  readonly content?: (packed: string, index: number) => string | null;
}

/**
 * LoteDistribuicaoNSUResponse as it comes, which is not quite as it is specified: labelled text/plain, times of documents without an
 * offset and with a fraction of any length, no TipoEvento, `Mensagem` an empty object, and the end of the walk a 404.
 */
export function adnAnswer(
  environment: Environment,
  at: number,
  documents: readonly (Omit<BoxItem, 'nsu' | 'withheld'> & { readonly nsu: number | null })[],
  { content = (whole) => whole }: PageChange = {},
): RestAnswer {
  const isEmpty = documents.length === 0;
  return json(isEmpty ? 404 : 200, {
    ...envelope(environment, at, isEmpty ? 'NENHUM_DOCUMENTO_LOCALIZADO' : 'DOCUMENTOS_LOCALIZADOS'),
    LoteDFe: documents.map(({ nsu, type, key, xml, at: made }, index) => ({
      NSU: nsu,
      ChaveAcesso: key,
      TipoDocumento: type,
      ArquivoXml: content(packed(xml), index),
      DataHoraGeracao: `${brasilia(made).slice(0, 19)}.${made % 1_000}`,
    })),
    Erros: isEmpty ? [{ Mensagem: {}, Codigo: 'E2220', Descricao: 'Nenhum documento localizado' }] : null,
  });
}

/** The answer REJEICAO with one error. */
export function adnRejection(environment: Environment, at: number, code: string): RestAnswer {
  return json(400, {
    ...envelope(environment, at, 'REJEICAO'),
    LoteDFe: null,
    Erros: [{ Mensagem: {}, Codigo: code, Descricao: 'Rejeição' }],
  });
}

function envelope(environment: Environment, at: number, status: string): object {
  return {
    StatusProcessamento: status,
    Alertas: null,
    TipoAmbiente: environment === 'production' ? 'PRODUCAO' : 'HOMOLOGACAO',
    VersaoAplicativo: '1.0.0.0',
    DataHoraProcessamento: brasilia(at).replace('-03:00', '.123-03:00'),
  };
}

function json(status: number, body: object): RestAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body: JSON.stringify(body) };
}

/** A note as Sefin Nacional gives it. */
export function sefinNote(environment: Environment, at: number, key: string, xml: string): RestAnswer {
  return sefin(200, environment, at, { chaveAcesso: key, nfseXmlGZipB64: packed(xml) });
}

/** An event that was registered just now. */
export function sefinEvent(environment: Environment, at: number, xml: string): RestAnswer {
  return sefin(201, environment, at, { eventoXmlGZipB64: packed(xml) });
}

/** An event that was registered before: packed in base64 twice, with its type as a number. */
export function sefinEventRead(environment: Environment, at: number, key: string, event: RegisteredEvent): RestAnswer {
  const arquivoXml = Buffer.from(packed(event.xml)).toString('base64');
  const entry = {
    chaveAcesso: key,
    tipoEvento: Number(event.type),
    numeroPedidoRegistroEvento: event.sequence,
    dataHoraRecebimento: brasilia(event.at).slice(0, 19),
    arquivoXml,
  };
  return sefin(200, environment, at, { eventos: [entry] });
}

/** `erro` is a list here and an object in the specification. */
export function sefinError(status: number, codigo: string): RestAnswer {
  const descricao = TEXTS[codigo] ?? 'Rejeição';
  return { status, contentType: 'application/json', body: JSON.stringify({ erro: [{ codigo, descricao }] }) };
}

function sefin(status: number, environment: Environment, at: number, content: object): RestAnswer {
  const body = {
    tipoAmbiente: environment === 'production' ? 1 : 2,
    versaoAplicativo: 'SefinNacional_1.6.0',
    dataHoraProcessamento: brasilia(at),
    ...content,
  };
  return { status, contentType: 'application/json; charset=utf-8', body: JSON.stringify(body) };
}

/** The event as Sefin registers it: the request inside, signed by its author; around it what Sefin adds, and its own signature. */
export function registeredEvent({ text, key, type }: NfseEventRequest, at: number): string {
  const id = `EVT${key}${type}001`;
  const digest = createHash('sha1').update(id).digest('base64');
  return (
    `<?xml version="1.0" encoding="UTF-8"?><evento xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"><infEvento Id="${id}">` +
    `<verAplic>SefinNac_1.6.0</verAplic><ambGer>2</ambGer><nSeqEvento>001</nSeqEvento><dhProc>${brasilia(at)}</dhProc>` +
    `<nDFSe>0</nDFSe>${text}</infEvento>${dummySignature(id, digest, 'sefin')}</evento>`
  );
}

const TEXTS: Readonly<Record<string, string>> = {
  E0001: 'Chave de acesso inválida',
  E0802: 'Já existe pedido de registro de evento com o mesmo identificador',
  E0812: 'O CNPJ raiz do autor difere do CNPJ raiz do certificado',
  E0813: 'O autor não pode registrar este evento',
  E0861: 'Há evento que impede o registro deste',
  E1225: 'Conteúdo não está em GZip e Base64',
  E1226: 'XML mal formado',
  E1228: 'Uso de prefixo de namespace não permitido',
  E1229: 'XML não está em UTF-8',
  E1235: 'Falha no esquema XML',
  E1250: 'Assinatura inválida',
  E1818: 'Tipo de evento não é recebido neste ambiente',
  E1825: 'Versão do leiaute não aceita',
  E1827: 'Identificador do pedido de registro inválido',
  E1831: 'A NFS-e não consta do ADN',
  E1833: 'Já existe manifestação deste não emitente',
  E1843: 'Data do evento posterior ao processamento',
  E1845: 'Tipo de ambiente difere do ambiente de recebimento',
  E1949: 'Motivo 9 exige a descrição',
  E1989: 'Pedido de registro sem assinatura',
  E2240: 'NFS-e não encontrada',
  E2241: 'Não é ator da NFS-e',
};
