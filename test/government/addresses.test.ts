import assert from 'node:assert/strict';
import { test } from 'node:test';
import { governmentAddresses, InvalidEndpointsFile, isGovernmentHost } from '../../src/government/addresses.js';

test('without a file the addresses are the government’s', () => {
  const { production, homologation } = governmentAddresses(null);
  assert.equal(
    production.nfeDistribution,
    'https://www1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
  );
  assert.equal(
    homologation.nfeDistribution,
    'https://hom1.nfe.fazenda.gov.br/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
  );
  assert.equal(production.nfeEvent, 'https://www.nfe.fazenda.gov.br/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx');
  assert.equal(homologation.nfeEvent, 'https://hom1.nfe.fazenda.gov.br/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx');
  assert.equal(production.nfeEventSvrs, 'https://nfe.svrs.rs.gov.br/ws/recepcaoevento/recepcaoevento4.asmx');
  assert.equal(
    homologation.nfeEventSvrs,
    'https://nfe-homologacao.svrs.rs.gov.br/ws/recepcaoevento/recepcaoevento4.asmx',
  );
  for (const services of [production, homologation]) assert.ok(Object.values(services).every(isGovernmentHost));
});

test('a file goes over them, each address by itself', () => {
  const built = governmentAddresses(null);
  const given = governmentAddresses(
    JSON.stringify({
      homologation: { nfeDistribution: 'https://localhost:8443/nfe', cteDistribution: 'https://localhost:8443/cte' },
    }),
  );
  assert.deepEqual(given.production, built.production);
  assert.deepEqual(given.homologation, {
    ...built.homologation,
    nfeDistribution: 'https://localhost:8443/nfe',
    cteDistribution: 'https://localhost:8443/cte',
  });
  assert.deepEqual(governmentAddresses('{"production":{"adn":"https://localhost/contribuintes"}}').production, {
    ...built.production,
    adn: 'https://localhost/contribuintes',
  });
  assert.deepEqual(governmentAddresses('{}'), built);
});

test('a file that cannot be used is refused with every fault and its place', () => {
  const faults: [string, RegExp][] = [
    ['', /not JSON/],
    ['{', /not JSON/],
    ['[]', /the file: /],
    ['{"production":{"nfeDistribution":"http://localhost/"}}', /production\.nfeDistribution: must be an https/],
    ['{"production":{"nfeDistribution":"localhost"}}', /production\.nfeDistribution/],
    ['{"production":{"nfeDistribution":""}}', /production\.nfeDistribution/],
    ['{"staging":{}}', /staging/],
    ['{"production":{"nfe":"https://localhost/"},"homologation":{"adn":1}}', /"nfe".*homologation\.adn/],
  ];
  for (const [file, reason] of faults) {
    assert.throws(
      () => governmentAddresses(file),
      (error: unknown) => error instanceof InvalidEndpointsFile && reason.test(error.message),
      file,
    );
  }
});

test('a government host is whatever is under gov.br', () => {
  const government = [
    'https://www1.nfe.fazenda.gov.br/x',
    'https://WWW1.NFE.FAZENDA.GOV.BR/x',
    'https://www1.nfe.fazenda.gov.br.:443/x',
    'https://nfe.svrs.rs.gov.br/ws/recepcaoevento',
    'https://adn.nfse.gov.br/contribuintes',
    'https://gov.br/',
  ];
  const others = [
    'https://localhost:8443/',
    'https://127.0.0.1/',
    'https://gov.br.example.com/',
    'https://notgov.br/',
    'https://example.com/www1.nfe.fazenda.gov.br',
  ];
  for (const url of government) assert.equal(isGovernmentHost(url), true, url);
  for (const url of others) assert.equal(isGovernmentHost(url), false, url);
});
