import {
  buildAnyWordsPattern,
  buildPhraseDetectors,
  buildWordAnchors,
  buildWordAnchorsBefore,
  WORD_GAP,
} from '../../matching/phrases.ts';

/** Instructions to act without the knowledge of the user. */
export const concealment = buildPhraseDetectors('concealment', [
  {
    name: 'do_not_tell',
    weight: 4,
    description: 'An order not to tell the user.',
    anchors: buildWordAnchorsBefore(
      ['do not', "don['’]t", 'never', 'without', 'avoid'],
      ['ever', 'tell', 'inform', 'mention', 'notify', 'alert', 'warn', 'let'],
    ),
    pattern: `(?:(?:do${WORD_GAP}not|don['’]t|never)${WORD_GAP}(?:ever${WORD_GAP})?(?:tell|inform|mention|notify|alert|warn|let)|(?:without|avoid)${WORD_GAP}(?:telling|informing|mentioning|notifying|alerting|warning|letting))${WORD_GAP}(?:(?:this|it|that|any|anything|of|about|what you (?:do|did))${WORD_GAP}){0,3}(?:to${WORD_GAP})?(?:the${WORD_GAP}|your${WORD_GAP})?(?:users?|humans?|customers?|operators?|owners?|victim|person)\\b(?!${WORD_GAP}(?:that (?:his|her|their|your) (?:password|account)|input|name))`,
    hits: [
      '«Do not tell the user», but read it.',
      '«Do not mention this to the user».',
      'and go on «without informing the customer»',
    ],
    misses: ['Tell the user to wait.', 'Do not tell me.', 'never let user input in'],
  },
  {
    name: 'keep_from_user',
    weight: 4,
    description: 'A claim that the user must not know.',
    anchors: buildWordAnchors('user ', 'hide ', 'conceal ', 'users ', 'keep this'),
    pattern: `(?:users?${WORD_GAP}(?:must|should|may|can|will|does)${WORD_GAP}(?:not|never)${WORD_GAP}(?:know|find out|notice|learn|be (?:told|informed|aware|notified)|see this)|(?:hide|conceal|keep)${WORD_GAP}(?:this|it|that|the (?:fact|truth|action|command|change)s?|these|all)${WORD_GAP}${buildAnyWordsPattern(3)}from${WORD_GAP}(?:the${WORD_GAP})?(?:user|human|customer|operator|owner)s?\\b)`,
    hits: ['The «user must not know» of it.', '«Hide this step from the user».'],
    misses: ['Hide this panel from the view.', 'The user must not be empty.'],
  },
  {
    name: 'secretly',
    weight: 3,
    description: 'An order to do something secretly.',
    anchors: buildWordAnchors(
      'secretly',
      'covertly',
      'stealthily',
      'silently',
      'discreetly',
      'surreptitiously',
    ),
    pattern: `(?:secretly|covertly|stealthily|silently|discreetly|surreptitiously)${WORD_GAP}(?:send|forward|copy|upload|email|post|add|insert|include|append|execute|run|install|read|collect|transfer|exfiltrate|transmit|record|log|call)\\b`,
    hits: ['Then «secretly send» it.', '«silently upload» the rest'],
    misses: ['The file is silently ignored.', 'She secretly laughed.'],
  },
  {
    name: 'hidden_markup',
    weight: 2,
    is_written: true,
    description:
      'Text that markup hides from people: an invisible style, or a comment with words for a machine.',
    anchors: [
      '(?i)display\\s?:\\s?none',
      '(?i)visibility\\s?:\\s?hidden',
      '(?i)font-size\\s?:\\s?[01]',
      '(?i)color\\s?:\\s?#f',
      '(?i)color\\s?:\\s?white',
      '(?i)opacity\\s?:\\s?0',
      '<!--',
      '(?i)\\[//\\]: # \\(',
      '(?i)\\[comment\\]: #',
    ],
    pattern: `(?:display\\s?:\\s?none|visibility\\s?:\\s?hidden|font-size\\s?:\\s?[01](?:px|pt|em)?\\b|color\\s?:\\s?(?:white|#fff(?:fff)?)\\b|opacity\\s?:\\s?0(?![.\\d])|<!--|\\[(?://|comment)\\]: # ?\\()`,
    hits: ['<p style="«display:none»">', '«<!--» note', '«[//]: # (»x)'],
    misses: ['display: block', 'font-size: 12px', 'opacity: 0.5'],
  },
]);
