import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openApprovalLinks } from './link.ts';

test('a link is valid for its request, until it expires, and for the service that made it', (t) => {
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'approval-link-')));
  t.after(() => folders.forEach((folder) => void rmSync(folder, { recursive: true })));
  const [links, others] = folders.map((folder) => openApprovalLinks(folder, 'https://safety.example'));
  const url = new URL(links!.build('apr_1', 5_000));
  assert.equal(`${url.origin}${url.pathname}`, 'https://safety.example/v1/approvals/apr_1/open');
  const link = {
    request_id: 'apr_1',
    expires_ms: Number(url.searchParams.get('expires')),
    signature: url.searchParams.get('signature')!,
  };
  assert.equal(links!.verify(link, 4_999), true);
  const again = openApprovalLinks(folders[0]!, 'https://safety.example');
  assert.equal(again.verify(link, 4_999), true, 'the key is kept');
  for (const [wrong, nowMs] of [
    [link, 5_000],
    [{ ...link, request_id: 'apr_2' }, 0],
    [{ ...link, expires_ms: 9_000 }, 0],
    [{ ...link, signature: `${link.signature.slice(0, -1)}!` }, 0],
    [{ ...link, signature: '' }, 0],
  ] as const)
    assert.equal(links!.verify(wrong, nowMs), false, JSON.stringify(wrong));
  assert.equal(others!.verify(link, 0), false);
  assert.equal(statSync(join(folders[0]!, 'approval-link-key')).mode & 0o777, 0o600);
});

test('a key file without a key signs nothing that can be guessed', (t) => {
  const sign = (make: (path: string) => void): string => {
    const folder = mkdtempSync(join(tmpdir(), 'approval-link-'));
    t.after(() => rmSync(folder, { recursive: true }));
    make(join(folder, 'approval-link-key'));
    return openApprovalLinks(folder, 'https://safety.example').build('apr_1', 5_000);
  };
  const empty = (path: string) => writeFileSync(path, '');
  const guessed = createHmac('sha256', '').update('apr_1.5000').digest('base64url');
  assert.doesNotMatch(sign(empty), new RegExp(guessed));
  assert.notEqual(sign(empty), sign(empty));
  assert.match(
    sign((path) => mkdirSync(path)),
    /signature=[\w-]{43}$/,
  );
});
