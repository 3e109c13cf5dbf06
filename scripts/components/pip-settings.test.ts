import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePipSettings } from './pip-settings.ts';

const CASES: readonly (readonly [name: string, list: string, expected: Readonly<Record<string, string>>])[] =
  [
    ['no settings', '', {}],
    [
      'an index',
      "global.index-url='https://index.example/simple'",
      { UV_DEFAULT_INDEX: 'https://index.example/simple' },
    ],
    [
      'the environment has priority over files',
      ":env:.index-url='https://env.example/simple?a=b'\nglobal.index-url='https://file.example/simple'",
      { UV_DEFAULT_INDEX: 'https://env.example/simple?a=b' },
    ],
    [
      'further indexes',
      "install.extra-index-url='\\nhttps://a.example/simple\\nhttps://b.example/simple'",
      {
        UV_INDEX: 'https://a.example/simple https://b.example/simple',
        UV_INDEX_STRATEGY: 'unsafe-best-match',
      },
    ],
    [
      'folders that exist, and addresses',
      ":env:.find-links='/there /gone https://links.example'",
      { UV_FIND_LINKS: '/there,https://links.example' },
    ],
    [
      'certificates, hosts and no index',
      ":env:.cert='/etc/ca.crt'\nglobal.trusted-host='a.example b.example'\nglobal.no-index='true'",
      { SSL_CERT_FILE: '/etc/ca.crt', UV_INSECURE_HOST: 'a.example b.example', UV_NO_INDEX: '1' },
    ],
    ['other settings', ":env:.default-timeout='180'\nglobal.no-index='false'\nlist.format='columns'", {}],
  ];

let count = 0;
for (const [name, list, expected] of CASES)
  test(`settings of pip for uv: ${name}`, () => {
    count += 1;
    assert.deepEqual(
      parsePipSettings(list, (path) => path === '/there'),
      expected,
    );
  });
test('all settings of pip were tried', () => assert.equal(count, 7));
