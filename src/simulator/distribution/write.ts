import type { Dress, ScriptedAnswer } from '../scripts/scripted-answer.js';
import { wireFault } from '../scripts/wire-fault.js';
import type { ServiceAnswer } from '../server/service.js';
import { type SoapVersion, soapContentType, soapEnvelope } from '../soap/envelope.js';
import { type DistributionAnswer, writeAnswer } from './answer.js';
import type { Dialect } from './dialect.js';

/** Some real answers carry this header of a monitoring product. */
const MONITOR_HEADER =
  '<WSCorIDSOAPHeader xmlns="http://www.ca.com/apm" CorID="00000000000000000000000000000000,1:1,0,0,,,AgAAAA==,1" />';

/** Writes an answer as HTTP, in the way that a script asks for. */
export function writeHttp(
  dialect: Dialect,
  answer: DistributionAnswer,
  version: SoapVersion,
  script: ScriptedAnswer | null,
): ServiceAnswer {
  const dress = script?.type === 'dress' ? script.as : null;
  const omit = script?.type === 'omit' ? script.fields : [];
  const accented = dress === 'latin1' || dress === 'latin1_undeclared';
  const content = writeAnswer(
    dialect,
    accented ? { ...answer, text: `${answer.text} - situação normal` } : answer,
    omit,
    dress === 'prefixes' ? 'n1' : '',
  );
  const xml = soapEnvelope(version, content, {
    ...(dress === 'prefixes' ? { prefix: 'SOAP-ENV' } : {}),
    ...(dress === 'header' ? { header: MONITOR_HEADER } : {}),
  });
  return {
    httpStatus: 200,
    contentType: soapContentType(version, dress === 'latin1' ? 'iso-8859-1' : 'utf-8'),
    body: encode(xml, dress),
    wire: wireFault(script),
  };
}

function encode(xml: string, dress: Dress | null): Buffer {
  switch (dress) {
    case 'latin1':
      return Buffer.from(xml.replace('encoding="utf-8"', 'encoding="ISO-8859-1"'), 'latin1');
    case 'latin1_undeclared':
      return Buffer.from(xml, 'latin1');
    case 'bom':
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(xml, 'utf8')]);
    default:
      return Buffer.from(xml, 'utf8');
  }
}
