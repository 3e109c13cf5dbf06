import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { makeCertificate } from '../../platform/net/testing/certificate.ts';
import type { AlertMessage, DeliveryResult } from './channel.ts';
import { type EmailSettings, emailChannel } from './email.ts';
import { buildAlertMessage } from './testing/message.ts';

const SIGNAL = AbortSignal.timeout(120_000);
const PASSWORD = ['mail-password', '5d41'].join('-');
const ANSWER = ['answer-marker', '77aa'].join('-');

const trusted = makeCertificate(['localhost']);
const otherName = makeCertificate(['other.example']);
const expired = makeCertificate(['localhost'], Date.now() - 100 * 3_600_000);
const unknown = makeCertificate(['localhost']);
const beforeTests = getCACertificates('default');
before(() => setDefaultCACertificates([...beforeTests, trusted.cert, otherName.cert, expired.cert]));
after(() => setDefaultCACertificates(beforeTests));

interface ReceivedMail {
  readonly mail: string;
  readonly secure: boolean;
  readonly user: string | undefined;
  readonly recipients: readonly string[];
}

/** Sends messages to a mail server on a free port, and returns the results and what the server took. */
async function sendMails(
  options: SMTPServerOptions,
  settings: Partial<EmailSettings> = {},
  messages: readonly AlertMessage[] = [buildAlertMessage()],
): Promise<{ results: DeliveryResult[]; received: ReceivedMail[] }> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    logger: false,
    onAuth: ({ username = '', password }, _session, done) =>
      password === PASSWORD ? done(null, { user: username }) : done(new Error(ANSWER)),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { user, secure, envelope } = session;
        const recipients = envelope.rcptTo.map(({ address }) => address);
        received.push({ mail: Buffer.concat(chunks).toString('utf8'), secure, user, recipients });
        done();
      });
    },
    ...options,
  });
  // Handshakes that a client gives up are expected here.
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const results: DeliveryResult[] = [];
  try {
    const channel = openChannel({ smtp_port: port, ...settings });
    for (const message of messages) results.push(await channel.send(message, SIGNAL));
    await channel.close();
  } finally {
    await new Promise<void>((closed) => server.close(() => closed()));
  }
  assert.doesNotMatch(JSON.stringify(results), new RegExp(`${PASSWORD}|${ANSWER}|ops@|localhost`));
  return { results, received };
}

function openChannel(settings: Partial<EmailSettings>) {
  return emailChannel.open({
    to: ['ops@corp.example', 'oncall@corp.example'],
    smtp_host: 'localhost',
    smtp_port: 25,
    tls: 'auto',
    subject_prefix: '[customshouse]',
    timeout_ms: 5_000,
    ...settings,
  });
}

const refuse = (code: number) => Object.assign(new Error(ANSWER), { responseCode: code });
const LOGIN = { username: 'alerts@corp.example', password: PASSWORD };

test('mail goes out over STARTTLS, over implicit TLS, and to a server on this machine without TLS', async () => {
  const cases: readonly (readonly [SMTPServerOptions, EmailSettings['tls'], boolean])[] = [
    [trusted, 'starttls', true],
    [trusted, 'auto', true],
    [{ ...trusted, secure: true }, 'implicit', true],
    [{ disabledCommands: ['STARTTLS'] }, 'auto', false],
    [{ ...trusted, allowInsecureAuth: true }, 'none', false],
  ];
  for (const [options, tls, secure] of cases) {
    const { results, received } = await sendMails(options, { tls, ...LOGIN });
    assert.deepEqual(results, [{ sent: true }], tls);
    assert.equal(received.length, 1);
    assert.deepEqual(
      [received[0]!.secure, received[0]!.user, received[0]!.recipients],
      [secure, LOGIN.username, ['ops@corp.example', 'oncall@corp.example']],
    );
  }
});

test('a mail server that cannot be trusted gets no mail', async () => {
  const certificate = 'The TLS certificate of the mail server is not valid.';
  const cases: readonly (readonly [SMTPServerOptions, EmailSettings['tls'], RegExp])[] = [
    ...[otherName, expired, unknown].flatMap((each) => [
      [each, 'starttls', new RegExp(certificate)] as const,
      [{ ...each, secure: true }, 'implicit', new RegExp(certificate)] as const,
    ]),
    [{ disabledCommands: ['STARTTLS'] }, 'starttls', /does not start TLS/],
    [trusted, 'implicit', /could not be reached|did not answer/],
  ];
  for (const [options, tls, reason] of cases) {
    const { results, received } = await sendMails(options, { tls, timeout_ms: 2_000, ...LOGIN });
    const [result] = results;
    assert.ok(result && !result.sent && !result.permanent, tls);
    assert.match(result.reason, reason);
    assert.deepEqual(received, []);
  }
  assert.equal(cases.length, 8);
});

test('a STARTTLS that an attacker takes out of the answer ends the delivery before the password', async () => {
  const lines: string[] = [];
  const server = createServer((socket: Socket) => {
    socket.write('220 mail ready\r\n');
    socket.on('error', () => {});
    socket.on('data', (data) => {
      lines.push(String(data));
      socket.write(/^EHLO/.test(String(data)) ? '250-mail\r\n250 AUTH PLAIN LOGIN\r\n' : '502 no\r\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const channel = openChannel({ smtp_port: port, tls: 'starttls', ...LOGIN });
  const result = await channel.send(buildAlertMessage(), SIGNAL);
  server.close();
  assert.ok(!result.sent);
  assert.doesNotMatch(lines.join(''), /AUTH|MAIL FROM/);
  assert.match(lines.join(''), /STARTTLS/);
});

test('refusals of the mail server say what to check, and which ones are final', async () => {
  const onRcptTo =
    (code: number): NonNullable<SMTPServerOptions['onRcptTo']> =>
    (_address, _session, done) =>
      done(refuse(code));
  const cases: readonly (readonly [SMTPServerOptions, Partial<EmailSettings>, RegExp, boolean])[] = [
    [trusted, { ...LOGIN, password: 'wrong' }, /user name or the password \(SMTP 535\)/, true],
    [{ ...trusted, onRcptTo: onRcptTo(550) }, {}, /refuses the mail \(SMTP 550\)/, true],
    [{ ...trusted, onRcptTo: onRcptTo(451) }, {}, /refuses the mail \(SMTP 451\)/, false],
    [
      {
        ...trusted,
        onData: (stream, _session, done) => {
          stream.resume().on('end', () => done(refuse(554)));
        },
      },
      {},
      /refuses the mail \(SMTP 554\)/,
      true,
    ],
    [{ ...trusted, onConnect: () => {} }, { timeout_ms: 200 }, /did not answer in time/, false],
  ];
  for (const [options, settings, reason, permanent] of cases) {
    const { results, received } = await sendMails(options, settings);
    const [result] = results;
    assert.ok(result && !result.sent);
    assert.match(result.reason, reason);
    assert.equal(result.permanent, permanent, result.reason);
    assert.deepEqual(received, []);
  }
  const oneOfTwo = await sendMails({
    ...trusted,
    onRcptTo: ({ address }, _session, done) => done(address.startsWith('ops') ? refuse(550) : null),
  });
  assert.deepEqual(oneOfTwo.results, [{ sent: true }]);
  assert.deepEqual(oneOfTwo.received[0]!.recipients, ['oncall@corp.example']);
});

test('a mail server that is not there, has a link-local address or floods is a failed delivery', async () => {
  const cases: readonly (readonly [Partial<EmailSettings>, RegExp, boolean])[] = [
    [{ smtp_host: '127.0.0.1', smtp_port: 1 }, /could not be reached \(ECONNREFUSED\)/, false],
    [{ smtp_host: 'no-such-host.invalid' }, /could not be reached/, false],
    [{ smtp_host: '169.254.169.254' }, /link-local/, true],
    [{ smtp_host: 'fe80::1' }, /link-local/, true],
  ];
  for (const [settings, reason, permanent] of cases) {
    const result = await openChannel(settings).send(buildAlertMessage(), SIGNAL);
    assert.ok(!result.sent);
    assert.match(result.reason, reason);
    assert.equal(result.permanent, permanent);
  }
  let written = 0;
  const flood = createServer((socket) => {
    socket.on('error', () => {});
    const chunk = Buffer.alloc(1_048_576, '220-x');
    const more = (): void => {
      while (!socket.destroyed && written < 1_024) {
        written += 1;
        if (!socket.write(chunk)) return void socket.once('drain', more);
      }
    };
    more();
  });
  flood.listen(0, '127.0.0.1');
  await once(flood, 'listening');
  const channel = openChannel({ smtp_port: (flood.address() as AddressInfo).port });
  const result = await channel.send(buildAlertMessage(), SIGNAL);
  flood.close();
  assert.ok(!result.sent);
  assert.ok(written < 256, `${written} MiB were taken`);
});

test('names cannot add a header, a recipient or an element', async () => {
  const hostile = 'x\r\nBcc: evil@evil.example\r\n\r\n<script>alert(1)</script>"><img src=x onerror=y>';
  const approval = {
    request_id: 'apr_1',
    tool: hostile,
    agent_id: hostile,
    expires_at: '2026-11-23T04:00:00.000Z',
    url: 'https://safety.example.com/dashboard/approvals?request=apr_1&x="',
  };
  const { results, received } = await sendMails(trusted, {}, [
    buildAlertMessage({
      rule_name: hostile,
      summary: hostile,
      source: hostile,
      group: { [hostile]: hostile },
    }),
    buildAlertMessage({ alert_id: hostile, delivery_id: hostile, dedup_key: hostile, approval }),
  ]);
  assert.deepEqual(results, Array(2).fill({ sent: true }));
  for (const { mail, recipients } of received) {
    assert.deepEqual(recipients, ['ops@corp.example', 'oncall@corp.example']);
    const head = mail.slice(0, mail.indexOf('\r\n\r\n'));
    assert.doesNotMatch(head, /^bcc:|<script/im);
    const html = decodeQuotedPrintable(mail).split('text/html').at(-1)!;
    assert.doesNotMatch(html, /<script|<img/);
    assert.match(html, /&lt;script&gt;/);
  }
  const second = decodeQuotedPrintable(received[1]!.mail);
  assert.match(second, /This mail approves nothing/);
  assert.deepEqual(
    [...new Set(second.match(/href="[^"]*"/g))],
    ['href="https://safety.example.com/dashboard/approvals?request=apr_1&amp;x=&quot;"'],
  );
});

test('attempts of one delivery have one id, and all mails of an alert are one thread', async () => {
  const { received } = await sendMails(trusted, { from: 'alerts@corp.example' }, [
    buildAlertMessage(),
    buildAlertMessage(),
    buildAlertMessage({ kind: 'resolve', delivery_id: 'dlv_2' }),
  ]);
  const header = (name: string) =>
    received.map(({ mail }) => new RegExp(`^${name}: (.*)$`, 'im').exec(mail)![1]!.trim());
  const ids = header('message-id');
  assert.equal(ids[0], ids[1]);
  assert.notEqual(ids[0], ids[2]);
  assert.equal(new Set(header('references')).size, 1);
  assert.deepEqual(new Set(header('from')), new Set(['alerts@corp.example']));
  assert.deepEqual(new Set(header('auto-submitted')), new Set(['auto-generated']));
  assert.match(header('subject')[2]!, /^\[customshouse\] Resolved: /);
});

function decodeQuotedPrintable(text: string): string {
  return text
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_whole, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
