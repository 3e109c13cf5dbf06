import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeStore, listStoreWarnings, parseStoreSettings } from './settings.ts';

const config = (url?: string) => ({
  state_dir: '/state',
  storage: url === undefined ? {} : { url },
  origin: { base_dir: '/etc/safety' },
});

test('the location of the store, and its description', () => {
  const secret = ['pass', 'word'].join('');
  const rows: readonly (readonly [string | undefined, string, number])[] = [
    [undefined, '/state/store.db', 0],
    ['sqlite:data/a.db', '/etc/safety/data/a.db', 0],
    ['sqlite:/data/a.db', '/data/a.db', 0],
    [`postgres://u:${secret}@db.internal/safety`, 'PostgreSQL at db.internal, database safety', 1],
    [`postgresql://u:${secret}@db:6432/s?sslmode=disable`, 'PostgreSQL at db:6432, database s', 1],
    [`postgres://u:${secret}@db/s?sslmode=verify-full`, 'PostgreSQL at db, database s', 0],
    ['postgres://127.0.0.1/s', 'PostgreSQL at 127.0.0.1, database s', 0],
    ['postgres://[::1]:5432/s', 'PostgreSQL at [::1]:5432, database s', 0],
    ['postgres:///s?host=/run/postgresql', 'PostgreSQL at this machine, database s', 0],
    ['postgres://db', 'PostgreSQL at db, database (the default one)', 1],
  ];
  for (const [url, place, warnings] of rows) {
    const settings = parseStoreSettings(config(url));
    assert.equal(describeStore(settings), place);
    assert.equal(listStoreWarnings(settings).length, warnings, url);
  }
  assert.equal(rows.length, 10);
});
