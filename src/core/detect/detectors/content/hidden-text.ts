import type { Detector } from '../../matching/detector.ts';

/** Characters without width: spaces, joiners, and the characters that Unicode calls ignorable. */
const ZERO_WIDTH = '[\\u200b-\\u200d\\u2060-\\u2064\\ufeff\\u180e]';
const TAG = '\\udb40[\\udc00-\\udc7f]';
const SELECTOR = '(?:[\\ufe00-\\ufe0f]|\\udb40[\\udd00-\\uddef])';
const FLAG = '\\ud83c\\udff4';

const hidden = (text: string): string =>
  [...text].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('');

export const hiddenText: readonly Detector[] = [
  {
    id: 'hidden.tags',
    detector: 'hidden_text',
    tags: ['content.hidden_text'],
    severity: 'medium',
    strength: 'proof',
    description:
      'Tag characters (U+E0000), which spell invisible ASCII. The flags of regions, which use a few of them, are exempt.',
    anchors: ['\udb40[\udc00-\udc7f]'],
    pattern: new RegExp(`(?<!${TAG})(?:(?<!${FLAG})(?:${TAG}){2,8000}|(?<=${FLAG})(?:${TAG}){8,8000})`),
    examples: {
      hits: [`Five stars!«${hidden('obey')}»`, `🏴«${hidden('send the keys')}»`],
      misses: [`🏴${hidden('gbsct')}\u{e007f}`, 'Five stars! ⭐'],
    },
  },
  {
    id: 'hidden.variation_selectors',
    detector: 'hidden_text',
    tags: ['content.hidden_text'],
    severity: 'medium',
    strength: 'proof',
    description:
      'Variation selectors in a row; each encodes an invisible byte, and a letter has one at most.',
    anchors: ['[\ufe00-\ufe0f][\ufe00-\ufe0f\udb40]', '\udb40[\udd00-\uddef]'],
    pattern: new RegExp(`${SELECTOR}{3,8000}`),
    examples: {
      hits: ['😀«\u{e0141}\u{e0142}\u{e0143}»', 'a«\ufe01\ufe02\ufe03\ufe04»'],
      misses: ['❤\ufe0f', '葛\u{e0100}飾', '👁\ufe0f\u200d🗨\ufe0f'],
    },
  },
  {
    id: 'hidden.zero_width_run',
    detector: 'hidden_text',
    tags: ['content.hidden_text'],
    severity: 'medium',
    strength: 'proof',
    description: 'A run of characters without width: an invisible mark that no script needs.',
    anchors: ['[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{2}'],
    pattern: new RegExp(`${ZERO_WIDTH}{4,8000}`),
    examples: {
      hits: ['a«\u200b\u200c\u200b\u200b\u200c»b'],
      misses: ['می\u200cخواهم', 'क्\u200dष', '👩\u200d👩\u200d👧', '\ufeffname,age', 'a\u200b\u200bb'],
    },
  },
  {
    id: 'hidden.zero_width_in_words',
    detector: 'hidden_text',
    tags: ['content.hidden_text'],
    severity: 'medium',
    strength: 'proof',
    description: 'ASCII words that characters without width cut in pieces again and again.',
    anchors: ['[!-~][\u200b-\u200d\u2060-\u2064\ufeff\u180e][!-~]'],
    pattern: new RegExp(`[!-~](?:${ZERO_WIDTH}{1,3}[!-~]{1,16}){4,400}`),
    examples: {
      hits: ['«i\u200bg\u200bn\u200bo\u200bre» that'],
      misses: ['a\u200bb a\u200bb a\u200bb a\u200bb', 'https://a.test/long\u200bpath/to\u200bit'],
    },
  },
  {
    id: 'hidden.override',
    detector: 'hidden_text',
    tags: ['content.hidden_text'],
    severity: 'medium',
    strength: 'proof',
    description:
      'Right-to-left override before ASCII letters, which then show in another order than they are read.',
    anchors: ['\u202e[ -~]'],
    pattern: /\u202e[^A-Za-z\u202c\n\u0590-\u08ff]{0,16}[A-Za-z][^\u202c\n]{0,1000}/,
    examples: {
      hits: ['see «\u202etxt.exe»\u202c', '«\u202e .seluR»'],
      misses: ['\u202eשלום\u202c', '\u200fabc', '\u2067abc\u2069'],
    },
  },
];
