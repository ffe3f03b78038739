import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isPublicAddress } from '../../src/webhooks/address.js';
import { endpointUrlProblem } from '../../src/webhooks/endpoint-url.js';

describe('addresses on the public internet', () => {
  for (const address of ['8.8.8.8', '177.10.20.30', '2606:4700::1111', '2804:14c::1']) {
    test(`${address} is`, () => assert.equal(isPublicAddress(address), true));
  }

  const refused: Record<string, string[]> = {
    unspecified: ['0.0.0.0', '0.1.2.3', '::'],
    loopback: ['127.0.0.1', '127.255.255.254', '::1'],
    private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
    'link-local, with the metadata services of clouds': ['169.254.169.254', '169.254.0.1', 'fe80::1', 'fe80::1%eth0'],
    'unique local, with the metadata service in IPv6': ['fd00:ec2::254', 'fc00::1'],
    'IPv4-mapped and -compatible': ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:10.0.0.1'],
    NAT64: ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1'],
    '6to4 and Teredo': ['2002:7f00:1::', '2002:808:808::1', '2001:0:1::1'],
    'site-local, discarded, outside global unicast': ['fec0::1', '100::1', '4000::1'],
    'multicast and broadcast': ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
    'reserved and for documentation': [
      '192.0.2.1',
      '198.51.100.1',
      '203.0.113.1',
      '240.0.0.1',
      '198.18.0.1',
      '2001:db8::1',
    ],
    'no address': ['', 'localhost', 'example.com', '8.8.8.8.8', '[::1]'],
  };
  for (const [what, addresses] of Object.entries(refused)) {
    for (const address of addresses) {
      test(`${address || '(empty)'} is not: ${what}`, () => assert.equal(isPublicAddress(address), false));
    }
  }
});

describe('the URL of an endpoint', () => {
  const good = [
    'https://erp.example.com/malote',
    'https://erp.example.com:8443/a?b=c',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
  ];
  for (const url of good) test(`${url} can be used`, () => assert.equal(endpointUrlProblem(url, false), null));

  const bad: [string, RegExp][] = [
    ['erp.example.com/malote', /whole URL/],
    ['', /whole URL/],
    ['http://erp.example.com/', /https/],
    ['ftp://erp.example.com/', /https/],
    ['javascript:alert(1)', /https/],
    ['https://user:secret@erp.example.com/', /user name/],
    ['https://localhost/', /public internet/],
    ['https://x.localhost/', /public internet/],
    ['https://127.0.0.1/', /public internet/],
    ['https://127.1/', /public internet/],
    ['https://0x7f.1/', /public internet/],
    ['https://2130706433/', /public internet/],
    ['https://[::1]/', /public internet/],
    ['https://[::ffff:10.0.0.1]/', /public internet/],
    ['https://169.254.169.254/latest/meta-data', /public internet/],
    [`https://erp.example.com/${'a'.repeat(2048)}`, /2048/],
  ];
  for (const [url, problem] of bad) {
    test(`${url.slice(0, 50)} cannot, and the sentence says why`, () => {
      assert.match(endpointUrlProblem(url, false) ?? '', problem);
      assert.ok(!(endpointUrlProblem(url, false) ?? '').includes('secret'));
    });
  }

  test('private addresses and plain http can where the configuration says so', () => {
    for (const url of ['http://127.0.0.1:8080/', 'https://localhost/', 'http://receiver:9000/hook']) {
      assert.equal(endpointUrlProblem(url, true), null);
    }
    assert.match(endpointUrlProblem('ftp://receiver/', true) ?? '', /https/);
  });
});
