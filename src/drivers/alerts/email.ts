// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import { isIP } from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { Transporter } from 'nodemailer';
import type { SMTPTransportOptions } from 'nodemailer/lib/smtp-transport';
import type { Static } from 'typebox';
import { buildEnum, buildSection, Type } from '../../core/schema.ts';
import { buildGuardedLookup, hasMetadataOrLinkLocalHost } from '../../platform/net/guarded-lookup.ts';
import { isLoopbackHost } from '../../platform/net/loopback.ts';
import type { AlertChannel, AlertChannelDriver, AlertMessage, DeliveryResult } from './channel.ts';
import { buildMail } from './parts/mail.ts';
import { credentialSchema, timeoutSchema } from './parts/settings.ts';

const addressSchema = Type.String({
  pattern: '^[^\\s@<>]{1,64}@[^\\s@<>]{1,255}$',
  'x-expects': 'must be a mail address',
});

const schema = buildSection(
  {
    to: Type.Array(addressSchema, { minItems: 1, maxItems: 100, description: 'Recipients of the mail.' }),
    from: Type.Optional({
      ...addressSchema,
      description: 'Sender. Default: `username` if it is a mail address, else the first recipient.',
    }),
    smtp_host: Type.String({ minLength: 1, maxLength: 253, description: 'Mail server.' }),
    smtp_port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'Its port.' }),
    tls: buildEnum(['auto', 'starttls', 'implicit', 'none'], {
      default: 'auto',
      description:
        '`auto`: `implicit` on port 465, else `starttls`; a server on this machine may be without TLS. `starttls`: fails without STARTTLS. `implicit`: TLS from the first byte. `none`: mails cross the network in the clear.',
    }),
    username: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Name at the mail server.' }),
    ),
    password: Type.Optional({
      ...credentialSchema,
      description: 'Password at the mail server, as `${NAME}`.',
    }),
    subject_prefix: Type.String({
      maxLength: 64,
      default: '[customshouse]',
      description: 'Beginning of each subject.',
    }),
    timeout_ms: timeoutSchema,
  },
  { description: 'Mail.' },
);

export type EmailSettings = Static<typeof schema>;

/** Mail over SMTP, as text and HTML. */
export const emailChannel = {
  name: 'email',
  docs: { receiver: 'a mail server (SMTP)', ends: 'another mail in the same thread' },
  schema,
  open,
} as const satisfies AlertChannelDriver<EmailSettings>;

function open(settings: EmailSettings): AlertChannel {
  return { send: (message, signal) => sendMail(message, settings, signal), close: () => {} };
}

const IMPLICIT_TLS_PORT = 465;
const RESPONSE_BYTES_MAX = 65_536;

/** Returns the transport's options. Without TLS a password is never sent, unless the server is on this machine. */
function buildTransport(settings: EmailSettings, address: string): SMTPTransportOptions {
  const { smtp_host: host, smtp_port: port, tls, username: user, password: pass, timeout_ms } = settings;
  const isLocal = isLoopbackHost(host);
  const secure = tls === 'implicit' || (tls === 'auto' && port === IMPLICIT_TLS_PORT);
  return {
    host: address,
    port,
    secure,
    requireTLS: tls === 'starttls' || (tls === 'auto' && !isLocal),
    ignoreTLS: tls === 'none',
    tls: { minVersion: 'TLSv1.2', ...(isIP(host) === 0 && { servername: host }) },
    ...(user !== undefined && pass !== undefined && (tls !== 'none' || isLocal) && { auth: { user, pass } }),
    connectionTimeout: timeout_ms,
    greetingTimeout: timeout_ms,
    socketTimeout: timeout_ms,
    dnsTimeout: timeout_ms,
    socketCloseTimeout: 0,
    maxResponseSize: RESPONSE_BYTES_MAX,
    allowInternalNetworkInterfaces: true,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Makes one attempt on a connection of its own. The library is loaded with the first mail. */
async function sendMail(
  message: AlertMessage,
  settings: EmailSettings,
  outer: AbortSignal,
): Promise<DeliveryResult> {
  if (hasMetadataOrLinkLocalHost(`smtp://${formatHost(settings.smtp_host)}`))
    return { sent: false, reason: LINK_LOCAL, permanent: true };
  const library = await import('nodemailer').catch(() => null);
  if (library === null) return { sent: false, reason: MISSING, permanent: true };
  const signal = AbortSignal.any([outer, AbortSignal.timeout(settings.timeout_ms)]);
  let transport: Transporter | null = null;
  try {
    const address = await resolveHost(settings.smtp_host);
    if (address === null) return { sent: false, reason: LINK_LOCAL, permanent: false };
    transport = library.createTransport(buildTransport(settings, address));
    await transport.sendMail({ ...buildMail(message, settings), signal });
    return { sent: true };
  } catch (fault) {
    return { sent: false, ...describeMailFailure(fault, signal) };
  } finally {
    transport?.close();
  }
}

const MISSING = 'The package `nodemailer` is not installed. Install it next to the service with npm.';

const LINK_LOCAL = 'Its mail server has a link-local address.';

/** Returns an address of the mail server; `null` if all are link-local or of a metadata service. */
function resolveHost(host: string): Promise<string | null> {
  const lookup = buildGuardedLookup(() => new Error(LINK_LOCAL));
  return new Promise((resolve, reject) => {
    lookup(host.replace(/^\[|\]$/g, ''), {}, (fault, address) => {
      if (fault === null) resolve(address as string);
      else if (fault.message === LINK_LOCAL) resolve(null);
      else reject(fault);
    });
  });
}

function formatHost(host: string): string {
  return host.includes(':') ? `[${host.replace(/^\[|\]$/g, '')}]` : host;
}

interface MailFailure {
  readonly reason: string;
  readonly permanent: boolean;
}

/** The parts of the library's errors that are read. */
interface MailFault {
  readonly code?: unknown;
  readonly responseCode?: unknown;
  readonly errno?: unknown;
  readonly message?: unknown;
}

/** Describes a failure by its codes. The texts of the server and the addresses of recipients are left out. */
function describeMailFailure(fault: unknown, signal: AbortSignal): MailFailure {
  const { code, responseCode, errno, message } = fault as MailFault;
  const status = typeof responseCode === 'number' ? responseCode : 0;
  const answered = status === 0 ? '' : ` (SMTP ${status})`;
  const permanent = status >= 500;
  if (signal.aborted || code === 'ETIMEDOUT')
    return { reason: 'The mail server did not answer in time.', permanent: false };
  if (code === 'EAUTH')
    return { reason: `The mail server refuses the user name or the password${answered}.`, permanent };
  if (code === 'EENVELOPE' || code === 'EMESSAGE')
    return { reason: `The mail server refuses the mail${answered}.`, permanent };
  // The library replaces the code of the TLS library by its own.
  if (typeof message === 'string' && /certificate|altnames/i.test(message))
    return { reason: 'The TLS certificate of the mail server is not valid.', permanent: false };
  if (code === 'ETLS') return { reason: NO_STARTTLS, permanent: false };
  const system = typeof errno === 'number' && errno < 0 ? getSystemErrorName(errno) : code;
  const named = typeof system === 'string' ? ` (${system})` : '';
  return { reason: `The mail server could not be reached${named}.`, permanent: false };
}

const NO_STARTTLS =
  'The mail server does not start TLS. Set `tls: implicit` if its port expects TLS from the first byte.';
