import type { TextlintKernelRule } from '@textlint/kernel';
import findPassive from 'passive-voice';
import { type RefusedTerm, terms } from './terms.ts';

const WORDS_MAX = 35;

/** Nodes whose phrases are checked. Only paragraphs are split into sentences. */
const PASSAGES = ['Paragraph', 'Header', 'TableCell'] as const;
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The part of a textlint node that the rules read. */
interface TextNode {
  readonly type: string;
  readonly raw: string;
  readonly range: readonly [number, number];
  readonly children?: readonly TextNode[];
}

interface Remark {
  /** Offset in the passage, in UTF-16 units. */
  readonly index: number;
  readonly length: number;
  readonly message: string;
}

type Examine = (text: string, passage: TextNode) => Iterable<Remark>;

/** Makes a rule of textlint from a function over the text of a passage. */
function createRule(kinds: readonly string[], examine: Examine): TextlintKernelRule['rule'] {
  return ({ report, locator, RuleError }) => {
    const check = (passage: TextNode) => {
      for (const { index, length, message } of examine(getText(passage), passage)) {
        const padding = locator.range([index, index + length]);
        report(passage as Parameters<typeof report>[0], new RuleError(message, { padding }));
      }
    };
    return Object.fromEntries(kinds.map((kind) => [kind, check]));
  };
}

/**
 * Returns the words of a passage at their own offsets: code becomes one long word, and markup becomes spaces.
 */
function getText(passage: TextNode): string {
  const out = Array<string>(passage.raw.length).fill(' ');
  const put = (node: TextNode) => {
    if (node.children !== undefined) {
      for (const child of node.children) put(child);
      return;
    }
    const letters = node.type === 'Str' ? node.raw : 'x'.repeat(node.raw.length);
    const start = node.range[0] - passage.range[0];
    for (let at = 0; at < letters.length; at++) out[start + at] = letters[at]!;
  };
  put(passage);
  return out.join('');
}

const dictionary = terms.map((term) => ({ term, pattern: getPattern(term) }));

function getPattern({ pattern }: RefusedTerm): RegExp {
  return new RegExp(`(?<![\\w./-])(?:${pattern.replaceAll(' ', '\\s+')})(?![\\w-]|\\.\\w)`, 'gi');
}

/** Refuses the phrases of the dictionary. */
const refusedPhrases = createRule(PASSAGES, function* (text) {
  for (const { term, pattern } of dictionary) {
    for (const { index, 0: phrase } of text.matchAll(pattern)) {
      const message = `"${phrase.replaceAll(/\s+/g, ' ')}": use ${term.use}`;
      yield { index, length: phrase.length, message };
    }
  }
});

const CLAUSE = /^(?:What|Whatever|Who|Where|Wherever)\s+[a-z]/;
const COMMENT = /^(?:What|Whatever|Whether|Who|Whose|Where|How|That|Of|By)\s+[a-z]/;

/** Refuses sentences that begin with a free relative clause, and comments that begin with a conjunction or a preposition. */
const openings = createRule(['Paragraph'], function* (text, passage) {
  for (const { index, segment } of sentences.segment(text)) {
    const sentence = segment.trim();
    const isFirst = text.slice(0, index).trim() === '';
    const isComment = isFirst && passage.raw.startsWith('/');
    const pattern = isComment ? COMMENT : CLAUSE;
    if (!pattern.test(sentence) || /[?:]$/.test(sentence)) continue;
    const length = sentence.indexOf(' ');
    yield {
      index: index + segment.indexOf(sentence),
      length,
      message: `"${sentence.slice(0, length)} ..." opens a sentence: begin with its subject or a verb`,
    };
  }
});

/** Counts sentences of more than 35 words. */
const longSentences = createRule(['Paragraph'], function* (text) {
  for (const { index, segment } of sentences.segment(text)) {
    const words = segment.match(/[\p{L}\p{N}][^\s]*/gu)?.length ?? 0;
    if (words <= WORDS_MAX) continue;
    yield { index, length: segment.length, message: `sentence of ${words} words, at most ${WORDS_MAX}` };
  }
});

/** Counts passive sentences. */
const passiveVoice = createRule(['Paragraph'], function* (text) {
  for (const { index, offset } of findPassive(text)) {
    const phrase = text.slice(index, index + offset).replaceAll(/\s+/g, ' ');
    yield { index, length: offset, message: `passive voice: "${phrase}"` };
  }
});

/** The rules. Those of severity `info` are counted and never fail the check. */
export const rules: TextlintKernelRule[] = [
  { ruleId: 'refused-phrases', rule: refusedPhrases, options: { severity: 'error' } },
  { ruleId: 'openings', rule: openings, options: { severity: 'error' } },
  { ruleId: 'long-sentences', rule: longSentences, options: { severity: 'info' } },
  { ruleId: 'passive-voice', rule: passiveVoice, options: { severity: 'info' } },
];
