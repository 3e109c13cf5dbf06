import { splitToolName } from '../../../core/policy/tool-effect.ts';
import type { ToolDescription } from './tool-description.ts';
import { hasWord, listWords, readNameWords, readPhrase } from './words.ts';

/** The source of a tool's content. */
export interface SourceKind {
  /** Second part of its labels: `untrusted.mail`, `trusted.mail`. */
  readonly name: string;
  /** - `strangers`: others write its texts and choose its names.
   *  - `people`: an address book that the organisation keeps.
   *  - `records`: no known kind. */
  readonly writers: 'strangers' | 'people' | 'records';
  /** True if the tool reaches the open internet, where strangers write everything. */
  readonly is_open: boolean;
}

interface KindRow {
  readonly name: string;
  readonly writers: SourceKind['writers'];
  readonly is_open?: true;
  readonly words: readonly string[];
}

/** Words for content of known kinds. The first row that matches counts, so special words are before general ones. */
const KINDS: readonly KindRow[] = [
  {
    name: 'contacts',
    writers: 'people',
    words: listWords('contact address_book addressbook payee beneficiary'),
  },
  {
    name: 'members',
    writers: 'people',
    words: listWords('people person user member employee colleague'),
  },
  {
    name: 'reviews',
    writers: 'strangers',
    words: listWords('review comment feedback post tweet forum feed social reply testimonial'),
  },
  {
    name: 'mail',
    writers: 'strangers',
    words: listWords('email mail inbox mailbox gmail outlook newsletter'),
  },
  {
    name: 'calendar',
    writers: 'strangers',
    words: listWords('calendar event meeting appointment invitation'),
  },
  {
    name: 'ticket',
    writers: 'strangers',
    words: listWords(
      'ticket issue bug pull pull_request pr merge_request incident case jira commit discussion',
    ),
  },
  {
    name: 'chat',
    writers: 'strangers',
    words: listWords('chat channel message dm slack discord teams conversation sms room thread notification'),
  },
  {
    name: 'bank',
    writers: 'strangers',
    words: listWords(
      'bank transaction payment transfer balance account iban invoice statement billing ledger payout charge',
    ),
  },
  {
    name: 'web',
    writers: 'strangers',
    is_open: true,
    words: listWords('web website webpage page url http browser browse crawl scrape internet site rss news'),
  },
  {
    name: 'file',
    writers: 'strangers',
    words: listWords('file folder drive document doc attachment sheet spreadsheet pdf wiki directory'),
  },
];

/** Words that begin the condition in a name: the object of `get_users_in_channel` is before it. */
const PREPOSITIONS = new Set([
  'by',
  'in',
  'from',
  'for',
  'of',
  'with',
  'on',
  'at',
  'to',
  'into',
  'as',
  'via',
  'about',
]);

/** Finds the kind of a tool's content: by the object in its name, then by the rest, the server, and the description. */
export function findSourceKind(tool: ToolDescription): SourceKind {
  const found = findKindRow(tool);
  const isOpen = tool.hints.is_open_world === true || found?.is_open === true;
  if (found === null)
    return {
      name: isOpen ? 'web' : toLabelName(tool.server),
      writers: isOpen ? 'strangers' : 'records',
      is_open: isOpen,
    };
  return { name: found.name, writers: found.writers, is_open: isOpen };
}

/** Returns the words of the object in a tool's name: `unread email` for `get_unread_emails`. */
export function findObjectWords({ name }: ToolDescription): string {
  return readNameWords(cutAtPreposition(name).join('_'));
}

function cutAtPreposition(name: string): readonly string[] {
  const words = splitToolName(name);
  const at = words.findIndex((word, index) => index > 0 && PREPOSITIONS.has(word));
  return at < 0 ? words : words.slice(0, at);
}

function findKindRow(tool: ToolDescription): KindRow | null {
  const object = findObjectWords(tool);
  const nouns = object.split(' ');
  // The last noun is what the tool is about: the object of `read_channel_messages` is messages.
  for (let at = nouns.length - 1; at >= 0; at--) {
    const row = KINDS.find(({ words }) => hasWord(nouns[at]!, words)) ?? null;
    if (row !== null) return row;
  }
  const others = [readNameWords(tool.name), readNameWords(tool.server ?? ''), readPhrase(tool.description)];
  for (const text of others) {
    // Only the object itself makes an address book, because that gives more trust than any other kind.
    const row = KINDS.find(({ writers, words }) => writers !== 'people' && hasWord(text, words));
    if (row !== undefined) return row;
  }
  return null;
}

const LABEL_UNITS_MAX = 32;

function toLabelName(server: string | null): string {
  const name = (server ?? '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[_-]+|[_-]+$/g, '')
    .slice(0, LABEL_UNITS_MAX);
  return name === '' ? 'records' : name;
}
