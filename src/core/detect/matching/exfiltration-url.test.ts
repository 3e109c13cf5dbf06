import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isExfiltrationUrl, mayCarryData } from './exfiltration-url.ts';

const HOST = 'https://pics.example/a';
const LONG = `${HOST}?${'part=of-a-long-address&'.repeat(20)}`;
const CARRIERS = [
  'https://x.webhook.site/a',
  `${HOST}?v={history}`,
  `${HOST}?v=%7Bhistory%7D`,
  `${HOST}?v=<last message>`,
  `${HOST}?v=the%20user%20wrote`,
  `${HOST}?v=the+user+wrote`,
  `${HOST}/the%20user%20wrote%20this/b.png`,
  `${HOST}/SECRET_KEY`,
  `${HOST}?chat_history=abc`,
  `${HOST}?d=QWxsIG9mIHRoZSBub3Rlcw`,
  `${LONG}v={history}`,
  `${LONG}chat_history=abc`,
];
const PLAIN = [
  `${HOST}/settings?lang=en&page=2#limits`,
  `${HOST}?size=12&sort=up&view=list`,
  `${HOST}/badge.svg`,
];

const WAYS: readonly ((url: string) => string)[] = [
  (url) => `](${url})`,
  (url) => `![an image](${url})`,
  (url) => `<img alt="x" src="${url}">`,
  (url) => `]: ${url}\n`,
];

test('a link that carries data is never excluded by its signs', () => {
  let tried = 0;
  for (const url of CARRIERS) {
    assert.ok(isExfiltrationUrl(url), url);
    for (const write of WAYS) {
      assert.ok(mayCarryData(`see ${write(url)} there`, 4), write(url));
      tried += 1;
    }
  }
  assert.equal(tried, 48);
});

test('a plain link is excluded, whatever follows it on the line', () => {
  for (const url of PLAIN) {
    assert.equal(isExfiltrationUrl(url), false, url);
    assert.equal(mayCarryData(`](${url}) and SECRET=1&d=QWxsIG9mIHRoZSBub3Rlcw`, 0), false, url);
  }
});
