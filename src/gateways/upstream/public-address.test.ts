import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamFailure } from './failure.ts';
import { canBePublicHost, isPublicAddress, openPublicLookup } from './public-address.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.1',
  '169.253.1.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
];

const PRIVATE = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '169.254.170.2',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::ffff:0:10.0.0.1',
  '64:ff9b::a00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::808:808',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'nowhere',
  '',
];

test('only addresses of the public internet are public', () => {
  for (const address of PUBLIC) assert.equal(isPublicAddress(address), true, address);
  for (const address of PRIVATE) assert.equal(isPublicAddress(address), false, address);
  assert.deepEqual([PUBLIC.length, PRIVATE.length], [9, 45]);
});

test('however an address is written in a URL, it is seen', () => {
  const refused = [
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::1]/',
    'http://[fd00:ec2::254]/',
    'http://１６９.254.169.254/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
    'http://metadata.google.internal/',
    'http://metadata.google.internal./',
    'http://metadata/',
    'http://printer.local/',
  ];
  for (const url of refused) assert.equal(canBePublicHost(new URL(url).hostname), false, url);
  const taken = ['https://api.example.com/', 'https://1.1.1.1/', 'https://[2606:4700:4700::1111]/'];
  for (const url of taken) assert.equal(canBePublicHost(new URL(url).hostname), true, url);
  assert.deepEqual([refused.length, taken.length], [15, 3]);
});

const HERE = { address: '127.0.0.1', family: 4 };
const THERE = { address: '8.8.8.8', family: 4 };

test('a connection uses the checked addresses, and is refused if one of them is private', async () => {
  const rows = [
    { addresses: [THERE], all: true, given: [THERE] },
    { addresses: [THERE], all: false, given: '8.8.8.8' },
    { addresses: [THERE, HERE], all: true, given: null },
    { addresses: [HERE], all: false, given: null },
    { addresses: [], all: true, given: null },
  ];
  for (const { addresses, all, given } of rows) {
    let request = 0;
    const look = openPublicLookup((_, done) => {
      request += 1;
      done(null, addresses);
    });
    const [fault, found] = await new Promise<readonly [unknown, unknown]>((resolve) =>
      look('name.example', { all }, (reported, address) => resolve([reported, address])),
    );
    assert.equal(request, 1, 'it is looked up once');
    if (given === null) assert.ok(fault instanceof UpstreamFailure && fault.code === 'invalid_request');
    else assert.deepEqual(found, given);
  }
  assert.equal(rows.length, 5);
});

test('a name that cannot be looked up is no address', async () => {
  const fault = new Error('ENOTFOUND');
  const look = openPublicLookup((_, done) => done(fault, []));
  assert.equal(await new Promise((resolve) => look('name.example', {}, resolve)), fault);
});
