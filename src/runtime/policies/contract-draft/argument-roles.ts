import type { Json, JsonObject } from '../../../core/types/index.ts';
import { getHead, hasWord, listWords, readNameWords, readPhrase } from './words.ts';

/** The purpose of an argument. The order is that of strictness: an object gets the first role among its members. */
export const ARGUMENT_ROLES = [
  'credential',
  'permission',
  'destination',
  'url',
  'amount',
  'identifier',
  'path',
  'other',
  'choice',
  'date',
  'query',
  'text',
] as const;

export type ArgumentRole = (typeof ARGUMENT_ROLES)[number];

interface RoleWords {
  readonly role: ArgumentRole;
  readonly words: readonly string[];
}

/** The last word of a name decides first, because it says what the thing is: `to_date` is a date, `card_title` a text. */
const HEADS: readonly RoleWords[] = [
  {
    role: 'text',
    words: listWords(
      'body content text message subject title description summary comment note caption html markdown reason greeting bio agenda headline prompt instruction location venue place city country',
    ),
  },
  {
    role: 'date',
    words: listWords(
      'date time datetime timestamp day start end since until deadline due month year week duration timezone hour minute',
    ),
  },
  { role: 'amount', words: listWords('amount price total cost fee budget sum salary payment balance') },
  { role: 'url', words: listWords('url uri link href webhook callback endpoint website homepage') },
  { role: 'path', words: listWords('path filename filepath folder directory') },
  { role: 'query', words: listWords('query search keyword term pattern filter question') },
];

/** Words for secrets: a stranger's value would take over an account. */
const CREDENTIALS = listWords(
  'password passwd passphrase passcode secret token api_key apikey access_key private_key secret_key credential otp pin cvv',
);

/** Words for marks in a paged list, which are no secrets. */
const PAGING = listWords('page next previous continuation cursor sync idempotency');

/** Words for rights: they say who may do what from now on. */
const PERMISSIONS = listWords(
  'permission role visibility privilege acl scope sharing public private access_level access admin',
);

/** Words for people and accounts that receive something. */
const RECIPIENTS = listWords(
  'recipient payee beneficiary receiver addressee attendee participant invitee guest assignee reviewer collaborator member user username person people contact employee audience iban wallet',
);

/** Words for addresses. Behind them `id` names the object: `email_id` is a stored mail. */
const ADDRESSES = listWords('email mail address phone channel room group team account card number_to');

/** Words for the names of objects. */
const IDENTIFIERS = listWords(
  'id identifier key uuid guid ref reference sku slug hash sha number code index',
);

/** Names that say the direction alone. */
const DIRECTIONS = listWords(
  'to cc bcc send_to reply_to share_with forward_to invite email_to mail_to to_email',
);

/** Phrases of descriptions, for names without a known word. */
const PHRASES: readonly RoleWords[] = [
  { role: 'credential', words: listWords('password secret_key api_key access_token') },
  { role: 'destination', words: listWords('iban recipient beneficiary payee email_address phone_number') },
  { role: 'url', words: listWords('url web_address hyperlink') },
  { role: 'date', words: listWords('iso_8601 yyyy_mm_dd date_and_time date_in the_date') },
  { role: 'path', words: listWords('file_path path_to') },
  { role: 'identifier', words: listWords('identifier unique_id the_id id_of') },
];

/** Formats of JSON Schema that say the role. */
const FORMATS: Readonly<Record<string, ArgumentRole>> = {
  date: 'date',
  'date-time': 'date',
  time: 'date',
  duration: 'date',
  email: 'destination',
  'idn-email': 'destination',
  hostname: 'url',
  ipv4: 'url',
  ipv6: 'url',
  password: 'credential',
  uri: 'url',
  url: 'url',
  'uri-reference': 'url',
  uuid: 'identifier',
};

const MEMBERS_MAX = 100;

/** Returns the role of an argument. For an object, or a list with objects, it is the strictest role among the members. */
export function findArgumentRole(name: string, schema: JsonObject | null): ArgumentRole {
  const own = findOwnRole(name, schema);
  const members = listMembers(schema);
  if (members.length === 0) return own;
  const named = own === 'other' ? [] : [own];
  const roles = [...named, ...members.map(([key, each]) => findOwnRole(key, each))];
  return ARGUMENT_ROLES.find((role) => roles.includes(role))!;
}

/** Returns the role that a name and a schema show, without the members of an object. */
export function findOwnRole(name: string, schema: JsonObject | null): ArgumentRole {
  const words = readNameWords(name);
  const item = asObject(schema?.items) ?? schema;
  const format = typeof item?.format === 'string' ? FORMATS[item.format.toLowerCase()] : undefined;
  const named = findNamedRole(words);
  if (named === 'credential' || named === 'permission' || named === 'destination') return named;
  if (format !== undefined) return format;
  if (isChoice(item)) return 'choice';
  if (named !== null) return named;
  const phrase = readPhrase(typeof schema?.description === 'string' ? schema.description : '');
  return PHRASES.find((row) => hasWord(phrase, row.words))?.role ?? 'other';
}

function findNamedRole(words: string): ArgumentRole | null {
  const head = getHead(words);
  if (hasWord(words, CREDENTIALS) && !hasWord(words, PAGING)) return 'credential';
  const byHead = HEADS.find((row) => row.words.includes(head));
  if (byHead !== undefined) return byHead.role;
  if (hasWord(words, PERMISSIONS)) return 'permission';
  if (DIRECTIONS.includes(words) || hasWord(words, RECIPIENTS)) return 'destination';
  if (IDENTIFIERS.includes(head) && head !== 'number') return 'identifier';
  if (hasWord(words, ADDRESSES)) return 'destination';
  if (IDENTIFIERS.includes(head)) return 'identifier';
  if (hasWord(words, ['file', 'dir'])) return 'path';
  if (words === 'q') return 'query';
  return ['name', 'label', 'topic', 'heading'].includes(head) ? 'text' : null;
}

/** Returns whether a value is a boolean or one of a list, so that no text of a stranger fits. */
function isChoice(schema: JsonObject | null): boolean {
  return schema?.type === 'boolean' || Array.isArray(schema?.enum) || schema?.const !== undefined;
}

function listMembers(schema: JsonObject | null): readonly (readonly [string, JsonObject | null])[] {
  const holder = asObject(schema?.items) ?? schema;
  return Object.entries(asObject(holder?.properties) ?? {})
    .slice(0, MEMBERS_MAX)
    .map(([key, value]) => [key, asObject(value)]);
}

/** Returns a JSON value if it is an object. */
export function asObject(value: Json | undefined): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}
