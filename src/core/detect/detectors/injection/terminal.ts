import { buildPhraseDetectors } from '../../matching/phrases.ts';

/** Escape sequences that make a terminal display something other than the text. */
export const terminal = buildPhraseDetectors('terminal', [
  {
    name: 'terminal_link',
    weight: 4,
    is_written: true,
    description: 'A terminal link (OSC 8) whose text hides the address.',
    anchors: ['\u001b\\]8;', '\u009d8;'],
    pattern: '(?:\\u001b\\]|\\u009d)8;[^;\\u0007\\u001b\\n]{0,80};[a-z]{2,10}:',
    hits: ['log «\u001b]8;;https:»//x.example\u0007here'],
    misses: ['\u001b]8;;\u0007', '8;;https:'],
  },
  {
    name: 'terminal_clipboard',
    weight: 6,
    is_written: true,
    description: 'An escape sequence that writes to the clipboard (OSC 52).',
    anchors: ['\u001b\\]52;', '\u009d52;'],
    pattern: '(?:\\u001b\\]|\\u009d)52;[a-z0-7]{0,8};[A-Za-z0-9+/=]{4,400}',
    hits: ['«\u001b]52;c;aGVsbG8=»\u0007'],
    misses: ['\u001b]52;c;?\u0007'],
  },
  {
    name: 'terminal_concealed',
    weight: 4,
    is_written: true,
    description: 'Text that is switched to invisible (SGR 8).',
    anchors: ['\u001b\\[8m', '\u001b\\[0;8m', '\u001b\\[\\d{1,2};8m', '\u001b\\[8;'],
    pattern: '\\u001b\\[(?:\\d{1,2};)?8(?:;\\d{1,3}){0,3}m(?=[^\\u001b\\n]{3})',
    hits: ['ok«\u001b[8m» sing\u001b[0m'],
    misses: ['\u001b[38;5;8mgrey', '\u001b[31merror'],
  },
  {
    name: 'terminal_rewrite',
    weight: 4,
    is_written: true,
    description: 'Lines that are overwritten or a screen that is cleared, with new text after it.',
    anchors: ['\u001b\\[\\d{1,2}A', '\u001b\\[A', '\u001b\\[2J', '\u001b\\[H\u001b\\[2J', '\u001bc'],
    pattern:
      '(?:\\u001b\\[\\d{0,2}A(?:\\u001b\\[\\d{0,2}G|\\r)?\\u001b\\[2K|\\u001b\\[2J\\u001b\\[(?:1;1)?H|\\u001b\\[H\\u001b\\[2J)(?=\\s{0,2}[^\\s\\u001b])',
    hits: ['«\u001b[1A\u001b[2K» all is well', '«\u001b[2J\u001b[H»login:'],
    misses: ['\u001b[1A', '\u001b[2J\u001b[H'],
  },
]);
