import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readToolEffect } from './tool-effect.ts';

test('a verb in the name says whether a tool writes', () => {
  for (const name of ['get_unread_emails', 'listFiles', 'mcp__github__search_code', 'READ-FILE', 'web.fetch'])
    assert.equal(readToolEffect(name), 'reads', name);
  for (const name of ['send_money', 'sendMoney', 'mcp__bank__create-payment', 'calendar.delete_event'])
    assert.equal(readToolEffect(name), 'writes', name);
});

test('a name that reads and writes counts as writing', () => {
  assert.equal(readToolEffect('find_and_replace'), 'writes');
  assert.equal(readToolEffect('search_and_list'), 'reads');
});

test('the server of a tool is no verb', () => {
  assert.equal(readToolEffect('mcp__read__weather'), 'unknown');
  assert.equal(readToolEffect('weather'), 'unknown');
  assert.equal(readToolEffect('fetch__post_form'), 'writes');
  assert.equal(readToolEffect('fetch__'), 'unknown');
});
