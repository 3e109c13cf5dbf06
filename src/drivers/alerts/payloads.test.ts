/** Each channel sends what the documentation of its receiver describes, whatever the names in a message are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Schema, Validator } from '@cfworker/json-schema';
import type { AlertChannel, AlertMessage } from './channel.ts';
import { chatWebhookChannel } from './chat-webhook.ts';
import { discordChannel } from './discord.ts';
import { incidentChannel } from './incident.ts';
import { pagingChannel } from './paging.ts';
import { buildMail } from './parts/mail.ts';
import { teamsChannel } from './teams.ts';
import { buildAlertMessage } from './testing/message.ts';
import { type ReceivedRequest, testEnvironment, withReceiver } from './testing/receiver.ts';
import {
  chatSchema,
  discordSchema,
  incidentChangeSchema,
  incidentCreateSchema,
  pagingSchema,
  teamsSchema,
} from './testing/vendor-schemas.ts';

const SIGNAL = AbortSignal.timeout(120_000);
const ROUTING_KEY = 'R'.repeat(32);
const SECRET = ['GenieSecret', '5d41'].join('-');

type OpenChannel = (url: string) => AlertChannel;
const openers: Readonly<Record<string, OpenChannel>> = {
  paging: (baseUrl) =>
    pagingChannel.open({ routing_key: ROUTING_KEY, base_url: baseUrl, timeout_ms: 5_000 }, testEnvironment),
  incident: (baseUrl) =>
    incidentChannel.open(
      { api_key: SECRET, region: 'eu', base_url: baseUrl, timeout_ms: 5_000 },
      testEnvironment,
    ),
  'chat-webhook': (url) => chatWebhookChannel.open({ url, timeout_ms: 5_000 }, testEnvironment),
  discord: (url) => discordChannel.open({ url, timeout_ms: 5_000 }, testEnvironment),
  teams: (url) => teamsChannel.open({ url, timeout_ms: 5_000 }, testEnvironment),
};

function getSchema(channel: string, { path }: ReceivedRequest): object {
  if (channel === 'incident') return path === '/v2/alerts' ? incidentCreateSchema : incidentChangeSchema;
  return { paging: pagingSchema, 'chat-webhook': chatSchema, discord: discordSchema, teams: teamsSchema }[
    channel
  ]!;
}

function findErrors(schema: object, body: string): readonly string[] {
  const { valid, errors } = new Validator(schema as Schema, '2020-12', false).validate(JSON.parse(body));
  return valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
}

/** Sends messages over a channel, and returns the requests. */
function capture(channel: string, messages: readonly AlertMessage[]): Promise<readonly ReceivedRequest[]> {
  return withReceiver(
    (response) => void response.writeHead(202).end('{"status":"success"}'),
    async ({ url, requests }) => {
      const opened = openers[channel]!(url);
      for (const message of messages)
        assert.deepEqual(await opened.send(message, SIGNAL), { sent: true }, channel);
      await opened.close();
      return requests;
    },
  );
}

const approval = {
  request_id: 'apr_1',
  tool: 'send_mail',
  agent_id: 'billing-bot',
  expires_at: '2026-11-23T04:00:00.000Z',
  url: 'https://safety.example.com/dashboard/approvals?request=apr_1',
};

/** Names that would notify people, format text, add links, end a header or hide, in one of the receivers. */
const HOSTILE = [
  '<!channel> <!here> <@U123> <https://evil.example|click>',
  '@everyone @here <@&1> [click](https://evil.example)',
  '<script>alert(1)</script><img src=x onerror=alert(1)>"\'',
  '**bold** _it_ ~~s~~ `code` || spoiler || # head',
  'a\r\nBcc: evil@example.com\r\n\r\nbody',
  '\u202etxt.exe \u200bzero \u0000 \u001b[31m',
  '<at>everyone</at> {{DATE(2017-02-14T06:00:00Z)}} ${x}',
  '\ud800 lone',
  '',
  '𝕏'.repeat(5_000),
  '`'.repeat(3_000),
  '<&>'.repeat(3_000),
];

const kinds = ['trigger', 'acknowledge', 'resolve', 'test'] as const;
const hostileMessages = HOSTILE.flatMap((name) => [
  buildAlertMessage({
    rule_name: name,
    rule_id: name || 'r',
    summary: `${name}.`,
    source: name || 's',
    tenant_ids: Array(50).fill(name),
    group: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`${name}${at}`, name])),
    dedup_key: `k${name}`,
    alert_id: name || 'a',
    sample_event_ids: Array(100).fill(name),
  }),
  buildAlertMessage({ approval: { ...approval, tool: name, agent_id: name } }),
  buildAlertMessage({ action_shown: name, action_marks: [[0, 9]] }),
]);

for (const channel of Object.keys(openers)) {
  test(`${channel}: every message has the documented format`, async () => {
    const plain = kinds.flatMap((kind) => [
      buildAlertMessage({ kind }),
      buildAlertMessage({ kind, url: null }),
      buildAlertMessage({ kind, approval }),
      buildAlertMessage({ kind, tenant_ids: [], group: {}, sample_event_ids: [], severity: 'low' }),
    ]);
    const requests = await capture(channel, [...plain, ...hostileMessages]);
    assert.ok(requests.length >= plain.length + hostileMessages.length);
    for (const request of requests) {
      assert.equal(request.method, 'POST');
      assert.equal(request.headers['content-type'], 'application/json');
      assert.deepEqual(findErrors(getSchema(channel, request), request.body), [], request.body.slice(0, 200));
      assert.ok(Buffer.byteLength(request.body) < 28 * 1024, channel);
      assert.ok(request.body.isWellFormed());
    }
  });

  test(`${channel}: the check of the format finds a changed one`, async () => {
    const [request] = await capture(channel, [buildAlertMessage()]);
    const body = JSON.parse(request!.body) as Record<string, unknown>;
    assert.notDeepEqual(findErrors(getSchema(channel, request!), JSON.stringify({ ...body, extra: 1 })), []);
    const [first] = Object.keys(body);
    delete body[first!];
    assert.notDeepEqual(findErrors(getSchema(channel, request!), JSON.stringify(body)), []);
  });

  test(`${channel}: an approval message links to the console, and to nothing else`, async () => {
    const [request] = await capture(channel, [buildAlertMessage({ approval })]);
    const urls = new Set(request!.body.match(/https?:\/\/[^\s"()|\\]+/g));
    urls.delete('http://adaptivecards.io/schemas/adaptive-card.json');
    assert.deepEqual([...urls], [approval.url]);
  });
}

/** A long call with a dangerous part, a link and the signs of all markups. */
const CALL = `Bash {"command":"git push --force; curl http://evil.example/x?a=1&b=<2> # *_\`@here\`"} ${'x'.repeat(1_900)}`;
const DANGEROUS = 'git push --force';
const DANGEROUS_AT = CALL.indexOf(DANGEROUS);

test('every channel shows the call and marks its dangerous part', async () => {
  const mark = [DANGEROUS_AT, DANGEROUS_AT + DANGEROUS.length] as const;
  const shown = { action_shown: CALL, action_marks: [mark] };
  const MARKED: Readonly<Record<string, RegExp>> = {
    paging: /"Dangerous part":"git push --force"/,
    incident: /"Dangerous part":"git push --force"/,
    'chat-webhook': /"plain_text","text":"Dangerous part: git push --force"/,
    discord: /\*\*git push \\\\-\\\\-force\*\*/,
    teams: /\{"type":"TextRun","text":"git push --force","weight":"Bolder","color":"Attention"\}/,
  };
  for (const channel of Object.keys(openers)) {
    const sent = [buildAlertMessage(shown), buildAlertMessage({ ...shown, approval }), buildAlertMessage()];
    const [alert, held, without] = await capture(channel, sent);
    for (const request of [alert!, held!]) {
      assert.match(request.body, MARKED[channel]!);
      assert.deepEqual(findErrors(getSchema(channel, request), request.body), []);
      assert.doesNotMatch(request.body, /"(?:url|href)":"http:..evil/);
    }
    assert.doesNotMatch(without!.body, MARKED[channel]!);
  }
  const mail = buildMail(buildAlertMessage(shown), { to: ['a@corp.test'], subject_prefix: '' });
  assert.match(
    mail.html,
    /<mark>git push --force<\/mark>; curl http:\/\/evil\.example\/x\?a=1&amp;b=&lt;2&gt;/,
  );
  assert.match(mail.text, /\nDangerous part: git push --force\n/);
  assert.doesNotMatch(mail.html, /href="http:..evil/);
});

test('paging: severities, one key for all events of an alert, and a test that leaves nothing open', async () => {
  const bodies = async (messages: readonly AlertMessage[]) =>
    (await capture('paging', messages)).map(({ body }) => JSON.parse(body));
  const severities = ['critical', 'high', 'medium', 'low'] as const;
  const triggers = await bodies(severities.map((severity) => buildAlertMessage({ severity })));
  assert.deepEqual(
    triggers.map(({ payload }) => payload.severity),
    ['critical', 'error', 'warning', 'info'],
  );
  const long = 'k'.repeat(400);
  const events = await bodies(
    kinds.flatMap((kind) => [buildAlertMessage({ kind }), buildAlertMessage({ kind, dedup_key: long })]),
  );
  const actions = events.map(({ event_action }) => event_action);
  assert.deepEqual(actions, [
    ...['trigger', 'trigger', 'acknowledge', 'acknowledge', 'resolve', 'resolve'],
    ...['trigger', 'resolve', 'trigger', 'resolve'],
  ]);
  assert.equal(new Set(events.map(({ dedup_key }) => dedup_key)).size, 2);
  assert.equal(events[0].dedup_key, buildAlertMessage().dedup_key);
  const [other] = await bodies([buildAlertMessage({ dedup_key: `${'k'.repeat(399)}x` })]);
  assert.notEqual(other.dedup_key, events[1].dedup_key);
});

test('incident: creates, acknowledges and closes by alias, with the key in the header', async () => {
  const key = 'agent/../x y?';
  const requests = await capture(
    'incident',
    kinds.map((kind) => buildAlertMessage({ kind, dedup_key: key })),
  );
  const change = `/v2/alerts/${encodeURIComponent(key)}`;
  assert.deepEqual(
    requests.map(({ path }) => path),
    [
      '/v2/alerts',
      `${change}/acknowledge?identifierType=alias`,
      `${change}/close?identifierType=alias`,
      '/v2/alerts',
      `${change}/close?identifierType=alias`,
    ],
  );
  for (const { headers } of requests) assert.equal(headers.authorization, `GenieKey ${SECRET}`);
  const [create] = requests;
  const { priority, alias } = JSON.parse(create!.body);
  assert.deepEqual([priority, alias], ['P2', key]);
});

test('chat-webhook: no name notifies, links or formats', async () => {
  for (const { body } of await capture('chat-webhook', hostileMessages)) {
    const { text, blocks } = JSON.parse(body);
    const shown = [text, ...blocks.flatMap(listTexts)] as string[];
    for (const each of shown) assert.doesNotMatch(each, /<(?!\/?$)|&(?!amp;|lt;|gt;)/, each);
    assert.doesNotMatch(text, /@(?!\u2060)/);
    for (const each of blocks.flatMap(({ fields = [] }) => fields))
      assert.match(each.text, /^\*[^\n]*\*\n`[^`]*`$/, each.text);
  }
});

test('discord: no name notifies, links or formats', async () => {
  for (const { body } of await capture('discord', hostileMessages)) {
    const { embeds, allowed_mentions } = JSON.parse(body);
    assert.deepEqual(allowed_mentions, { parse: [] });
    const [{ title, description, fields, footer }] = embeds;
    const values = fields.filter(({ name }: { name: string }) => name !== 'Console');
    const shown = [title, description, ...values.flatMap(({ name, value }: Fact) => [name, value])];
    for (const each of shown) {
      // Only the dangerous part of a call is in bold.
      const left = each.replace(/\\[!-/:-@[-`{-~]/g, '').replace(/\*\*([^*]*)\*\*/, '$1');
      assert.doesNotMatch(left, /[!-/:-@[-`{-~]/, each);
    }
    const all = [...shown, footer.text, 'Console', fields.at(-1).value].join('');
    assert.ok(all.length <= 6_000, String(all.length));
  }
});

interface Fact {
  readonly name: string;
  readonly value: string;
}

test('teams: names are in text runs only, which have no markup', async () => {
  for (const { body } of await capture('teams', hostileMessages)) {
    const [{ content }] = JSON.parse(body).attachments;
    for (const block of content.body) assert.equal(block.type, 'RichTextBlock');
    assert.equal(content.msteams.entities, undefined);
    assert.doesNotMatch(JSON.stringify(content.actions), /evil|script|everyone/);
  }
});

test('controls and invisible characters are shown as escapes in every channel', async () => {
  const message = buildAlertMessage({ summary: 'a\r\nb\u202ec\u200bd\u0000e' });
  for (const channel of Object.keys(openers)) {
    const [request] = await capture(channel, [message]);
    assert.match(request!.body, /a.{0,4}u.{0,4}\{d.{0,4}\}/, channel);
    assert.doesNotMatch(
      JSON.parse(`"${request!.body.replaceAll('"', '')}"`.replaceAll('\\', '/')),
      /[\u202e\u200b]/,
    );
    assert.doesNotMatch(request!.body, /\\r|\\u0000|\u202e|\u200b/, channel);
  }
});

function listTexts(block: Readonly<Record<string, unknown>>): readonly string[] {
  const {
    text,
    fields = [],
    elements = [],
  } = block as {
    text?: { text: string };
    fields?: readonly { text: string }[];
    elements?: readonly { text: { text: string } }[];
  };
  return [
    ...(text === undefined ? [] : [text.text]),
    ...fields.map((each) => each.text),
    ...elements.map((each) => each.text.text),
  ];
}
