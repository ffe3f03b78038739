import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_SCHEMAS, schemaOf } from '../support/xsd.js';
import { cte, cteEvent, cteKey, cteOs, cteSimplified, delivery, gtve, MODALS, TAKERS } from './cte-samples.js';
import { key } from './samples.js';

/** The samples that the other tests read are such as the government accepts: else those tests would prove nothing. */
describe('samples under the official schemas', { skip: NO_SCHEMAS }, () => {
  const notes = { nfeKeys: [key(1), key(2)] };
  const cases: [string, string, string, boolean][] = [
    ...Object.keys(MODALS).map((modal): [string, string, string, boolean] => [
      `CT-e, modal ${modal}`,
      'cte/procCTe_v4.00.xsd',
      cte({ modal, ...notes }),
      true,
    ]),
    ...Object.entries(TAKERS).map(([role, taker]): [string, string, string, boolean] => [
      `CT-e, taker ${role}`,
      'cte/procCTe_v4.00.xsd',
      cte({ taker }),
      true,
    ]),
    ['CT-e with a total', 'cte/procCTe_v4.00.xsd', cte({ documentTotal: '275.00' }), true],
    ['CT-e 3.00', 'cte300/procCTe_v3.00.xsd', cte({ layout: '3.00', ...notes }), true],
    ['CT-e OS', 'cte/procCTeOS_v4.00.xsd', cteOs(), true],
    ['CT-e Simplificado', 'cte/procCTeSimp_v4.00.xsd', cteSimplified(notes), true],
    [
      'CT-e Simplificado behind another',
      'cte/procCTeSimp_v4.00.xsd',
      cteSimplified({
        deliveries: delivery(
          1,
          `<infDocAnt><chCTe>${cteKey(3)}</chCTe><tpPrest>2</tpPrest><infNFeTranspParcial><chNFe>${key(4)}</chNFe></infNFeTranspParcial></infDocAnt>`,
        ),
      }),
      true,
    ],
    ['GTV-e', 'cte/procGTVe_v4.00.xsd', gtve(), true],
    ['event', 'cte/procEventoCTe_v4.00.xsd', cteEvent(), true],
    ['event 3.00', 'cte300/procEventoCTe_v3.00.xsd', cteEvent({ layout: '3.00' }), true],
    ['CT-e without its issuer', 'cte/procCTe_v4.00.xsd', cte().replace(/<emit>.*<\/emit>/, ''), false],
  ];
  for (const [name, schema, xml, valid] of cases) {
    test(`${name}: ${valid ? 'valid' : 'not valid'}`, () => {
      const fault = schemaOf(schema)(xml);
      if (valid) assert.equal(fault, null);
      else assert.notEqual(fault, null);
    });
  }
});
