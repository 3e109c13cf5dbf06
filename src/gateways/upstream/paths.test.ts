import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinPaths, removeKeyFromPath, replaceModelInPath } from './paths.ts';
import { parseBaseUrl } from './settings.ts';

/** A base URL, the client's path, and the path at the provider. */
const JOINED = [
  ['https://api.openai.com/v1', '/v1/chat/completions', '/v1/chat/completions'],
  ['https://api.openai.com/v1/', '/v1/models?a=/v1/', '/v1/models?a=/v1/'],
  ['https://api.openai.com', '/v1/chat/completions', '/v1/chat/completions'],
  ['https://api.anthropic.com', '/v1/messages?beta=true', '/v1/messages?beta=true'],
  ['https://host/openai/v1', '/v1/chat/completions', '/openai/v1/chat/completions'],
  ['https://host/v1beta/openai', '/v1/chat/completions', '/v1beta/openai/chat/completions'],
  ['https://host/team', '/v1/messages', '/team/v1/messages'],
  ['https://host/team/v1', '/v1', '/team/v1'],
  ['https://host/v1', '/v1?x', '/v1?x'],
  ['https://host', '/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
  ['https://host/v1beta', '/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
  ['https://host/v1', '/v1beta/models/m:generateContent', '/v1/models/m:generateContent'],
  ['https://host/vision', '/v1/x', '/vision/v1/x'],
  ['https://host/v1', '/other', '/v1/other'],
] as const;

test('the version of a base takes the place of the version that a client asks for', () => {
  for (const [base, path, joined] of JOINED)
    assert.equal(joinPaths(parseBaseUrl(base), path), joined, `${base} ${path}`);
  assert.equal(JOINED.length, 14);
});

test('the model in a path is replaced, and nothing else of it', () => {
  assert.equal(
    replaceModelInPath('/v1beta/models/a:x?b=/models/c:d', 'e/f'),
    '/v1beta/models/e%2Ff:x?b=/models/c:d',
  );
  assert.equal(replaceModelInPath('/v1beta/models/a', 'e'), '/v1beta/models/e');
  assert.equal(replaceModelInPath('/v1/chat', 'e'), '/v1/chat');
});

test('a key in the query is taken out, however it is written', () => {
  const rows = [
    ['/a', '/a'],
    ['/a?key=k', '/a'],
    ['/a?alt=sse&key=k&b=%zz', '/a?alt=sse&b=%zz'],
    ['/a?k%65y=k&KEY=k&monkey=1', '/a?monkey=1'],
    ['/a?key', '/a'],
  ] as const;
  for (const [path, kept] of rows) assert.equal(removeKeyFromPath(path), kept);
  assert.equal(rows.length, 5);
});
