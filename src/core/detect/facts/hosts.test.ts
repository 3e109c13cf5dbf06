import assert from 'node:assert/strict';
import { test } from 'node:test';
import ipaddr from 'ipaddr.js';
import { POLICY_SETTINGS } from '../../testing/policies.ts';
import type { Json } from '../../types/index.ts';
import { collectToolFacts } from './facts.ts';
import { namesMetadataService } from './hosts.ts';
import { isMetadataAddress, isMetadataOrLinkLocal } from './metadata-addresses.ts';

function collectTags(value: Json) {
  return collectToolFacts({ kind: 'json', value }, [], POLICY_SETTINGS.limits)!;
}

/** Spellings of an address at which a cloud hands out credentials, as browsers, curl and libraries read them. */
const METADATA = [
  ...[
    'http://169.254.169.254/latest',
    'http:/169.254.169.254/',
    'http:169.254.169.254/',
    'http:\\\\169.254.169.254\\x',
  ],
  ...[
    'http:\\/169.254.169.254',
    'HTTP://169.254.169.254:80',
    'http:////169.254.169.254/',
    'http://user:x@169.254.169.254/',
  ],
  ...[
    'http://0xa9fea9fe/',
    'http://0xA9.0xFE.0xA9.0xFE/',
    'http://2852039166/',
    'http://0251.0376.0251.0376/',
  ],
  ...['http://169.254.43518/', 'http://169.16689662', 'http://0251.254.169.254/', 'http://169.254.169.254./'],
  ...[
    'http://[::ffff:169.254.169.254]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[::169.254.169.254]/',
  ],
  ...[
    'http://[2002:a9fe:a9fe::]/',
    'http://[fd00:ec2::254]/',
    'http://[FD00:EC2:0:0::254]/',
    'http://[fe80::a9fe:a9fe%25eth0]/',
  ],
  ...[
    'http://１６９.254.169.254/',
    'http://169。254。169。254/',
    'http://169．254．169．254',
    'http://%31%36%39.254.169.254/',
  ],
  ...[
    'http://169.254.169.2\u00ad54/',
    'http://169%2e254%2e169%2e254/',
    'gopher://169.254.169.254:80/_x',
    'dict://169.254.169.254/',
  ],
  ...[
    'ftp://169.254.169.254/x',
    'ws://169.254.169.254/',
    'see (http://169.254.169.254/x) there',
    'view-source://169.254.169.254/',
  ],
  ...[
    'http://metadata.google.internal/computeMetadata',
    'http://metadata.google.internal./',
    'https://METADATA.GOOGLE.INTERNAL',
  ],
  ...[
    'http://metadata/computeMetadata/v1',
    'http://metadata.azure.internal/',
    'http://metadata.tencentyun.com/',
    'http://instance-data/latest',
  ],
  ...[
    'http://100.100.100.200/',
    'http://168.63.129.16/',
    'http://192.0.0.192/',
    'http://169.254.170.2/v2',
    'http://169.254.170.23/',
  ],
  ...[
    'http://169.254.169.254.nip.io/',
    'http://169-254-169-254.sslip.io/',
    'http://a9fea9fe.nip.io/',
    'http://169.254.169.254\\@evil.test/',
  ],
  ...[
    'http://evil.test\\@169.254.169.254/',
    'http://[fd20:ce::254]/',
    'http://169.254.42.42/conf',
    'http://169.254.0.23/',
  ],
  ...[
    '169.254.169.254',
    '169.254.169.254/latest/meta-data',
    '169.254.169.254:80/x',
    ' 169.254.169.254 ',
    '[fd00:ec2::254]/x',
  ],
];
const OTHERS = [
  ...[
    'https://example.com/169.254.169.254',
    'https://example.com/?u=1',
    'http://10.0.0.1/',
    'http://127.0.0.1:3000',
  ],
  ...[
    'http://169.253.169.254/',
    'http://[fd00::1]/',
    'https://metadata.example.com/',
    'http://8.8.8.8/',
    'version 169.254.169.254x',
  ],
  ...[
    'the word metadata',
    'http: the protocol',
    'a ws: b',
    '2852039166',
    'https://[2606:4700::1111]/',
    'mailto:a@b.io',
    '100.100.100.200.1',
  ],
];

test('an address of a metadata service is seen in every spelling', () => {
  for (const text of METADATA) {
    assert.ok(collectTags({ note: text }).includes('egress.metadata_endpoint'), text);
    assert.ok(collectTags({ command: `curl '${text}'` }).includes('egress.metadata_endpoint'), text);
    assert.ok(namesMetadataService(text.trim()) || text.startsWith('see'), text);
  }
  assert.equal(METADATA.length, 61);
});

test('other addresses and words are none', () => {
  for (const text of OTHERS) {
    assert.ok(!collectTags({ note: text }).includes('egress.metadata_endpoint'), text);
    assert.ok(text === '2852039166' || !namesMetadataService(text), text);
  }
  assert.equal(OTHERS.length, 16);
});

test('under the key of an address a number, a host with a path and a broken line are addresses', () => {
  for (const [key, text] of [
    ['url', '2852039166'],
    ['url', '0xa9fea9fe/latest'],
    ['url', '//169.254.169.254/x'],
    ['host', 'metadata.google.internal'],
    ['host', 'metadata'],
    ['base_url', 'ht\ntp://169.254.169.254/'],
    ['endpoint', 'http://169.254.169.\t254/'],
  ] as const)
    assert.ok(collectTags({ [key]: text }).includes('egress.metadata_endpoint'), text);
  assert.deepEqual(collectTags({ port: '2852039166', count: '8080' }), []);
  assert.ok(collectTags({ command: 'curl 2852039166/latest' }).includes('egress.metadata_endpoint'));
});

test('one list says where credentials are handed out; networks guard against all link-local addresses', () => {
  const at = (text: string) => [
    isMetadataAddress(ipaddr.parse(text)),
    isMetadataOrLinkLocal(ipaddr.parse(text)),
  ];
  for (const text of [
    '169.254.169.254',
    '169.254.169.250',
    '64:ff9b::a9fe:a9fe',
    'fd00:ec2::23',
    '::ffff:100.100.100.200',
  ])
    assert.deepEqual(at(text), [true, true], text);
  for (const text of ['169.254.1.1', 'fe80::1', '::ffff:169.254.1.1'])
    assert.deepEqual(at(text), [false, true], text);
  for (const text of ['8.8.8.8', '10.0.0.1', '::1', '::', '2606:4700::1'])
    assert.deepEqual(at(text), [false, false], text);
});
