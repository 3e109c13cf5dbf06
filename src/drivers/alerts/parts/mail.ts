import { createHash } from 'node:crypto';
import type { AlertMessage } from '../channel.ts';
import { type AlertText, describeAlert, listCallFacts, showText } from './describe.ts';

interface MailSettings {
  readonly to: readonly string[];
  readonly from?: string;
  readonly username?: string;
  readonly subject_prefix: string;
}

/** One mail, in the form of nodemailer. */
interface Mail {
  readonly from: string;
  readonly to: string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  readonly references: string;
  readonly headers: Record<string, string>;
}

const SUBJECT_CHARACTERS_MAX = 200;

/**
 * Builds a mail. Its `Message-ID` is the same for all attempts. All mails of one alert refer to one thread. No name in
 * it can end a header or begin an element.
 */
export function buildMail(message: AlertMessage, { to, from, username, subject_prefix }: MailSettings): Mail {
  const text = describeAlert(message);
  const sender = from ?? (username?.includes('@') ? username : to[0]!);
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  const idOf = (key: string): string =>
    `<${createHash('sha256').update(key).digest('hex').slice(0, 40)}@${domain}>`;
  return {
    from: sender,
    to: [...to],
    subject: showText(`${subject_prefix} ${text.title}`.trim(), SUBJECT_CHARACTERS_MAX),
    text: writePlainText(text, message),
    html: writeHtml(text, message),
    messageId: idOf(`delivery ${message.delivery_id}`),
    references: idOf(`thread ${message.dedup_key}`),
    headers: {
      // RFC 3834: no automatic answers to this mail.
      'auto-submitted': 'auto-generated',
      'x-alert-id': showText(message.alert_id, 128),
    },
  };
}

function writePlainText(described: AlertText, message: AlertMessage): string {
  const { title, summary, facts, link } = described;
  return [
    title,
    '',
    summary,
    '',
    ...[...listCallFacts(described), ...facts].map(([label, value]) => `${label}: ${value}`),
    ...(link === null ? [] : ['', `${link.label}: ${link.url}`]),
    '',
    `Sent by ${showText(message.source, 100)}.${message.approval === null ? '' : APPROVAL_NOTE}`,
    '',
  ].join('\n');
}

/** A mail alone decides nothing: the link opens the console, which asks for sign-in. */
const APPROVAL_NOTE =
  ' The link opens the console, where you sign in and decide. This mail approves nothing.';

function writeHtml({ title, summary, facts, call, link }: AlertText, message: AlertMessage): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><th style="${HEAD_STYLE}">${escapeHtml(label)}</th><td style="${CELL_STYLE}">${escapeHtml(value)}</td></tr>`,
  );
  const button =
    link === null
      ? ''
      : `<p><a href="${escapeHtml(link.url)}" style="${LINK_STYLE}">${escapeHtml(link.label)}</a></p>`;
  const parts = call.map(({ text, is_dangerous }) =>
    is_dangerous ? `<mark>${escapeHtml(text)}</mark>` : escapeHtml(text),
  );
  const shown = parts.length === 0 ? '' : `<p style="${CELL_STYLE}">${parts.join('')}</p>`;
  const note = message.approval === null ? '' : APPROVAL_NOTE;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body style="${BODY_STYLE}"><h1 style="font-size:18px">${escapeHtml(title)}</h1><p>${escapeHtml(summary)}</p>${shown}<table role="presentation" style="border-collapse:collapse">${rows.join('')}</table>${button}<p style="color:#5a6472;font-size:12px">Sent by ${escapeHtml(showText(message.source, 100))}.${note}</p></body></html>`;
}

const BODY_STYLE = 'font-family:system-ui,sans-serif;font-size:14px;color:#1b1f24;background:#ffffff';
const HEAD_STYLE = 'text-align:left;vertical-align:top;padding:2px 16px 2px 0;font-weight:600';
const CELL_STYLE = 'padding:2px 0;font-family:ui-monospace,monospace;overflow-wrap:anywhere';
const LINK_STYLE =
  'display:inline-block;padding:8px 14px;background:#1b4f9c;color:#ffffff;border-radius:4px;text-decoration:none';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (each) => ENTITIES[each]!);
}
