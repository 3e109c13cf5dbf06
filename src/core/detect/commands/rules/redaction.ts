import { computeOutput, findInput } from '../../shell/output.ts';
import type { Command } from '../../shell/syntax.ts';
import { findMarkerAsValue, isProseFile } from '../written-marker.ts';
import type { CommandRule } from './rule.ts';

/** Rules for values that were masked on their way to the model. */
export const redactionRules: readonly CommandRule[] = [
  {
    id: 'redaction.written_back',
    tag: 'dangerous.redaction',
    severity: 'medium',
    // A shell also prints what it masks for a log.
    grade: () => 'low',
    programs: 'echo printf cat tee',
    description:
      'Writes a redaction marker to a file in the place of a value, which is then lost. Keep the line as it is in the file, or restore it from version control.',
    safer: 'git diff .env.example',
    saw: writesMarker,
    hits: [
      'echo "API_KEY=[REDACTED]" > .env',
      'echo "API_KEY=[REDACTED:api_key]" | tee -a .env',
      "cat > app.yaml <<'EOF'\npassword: [REDACTED]\nEOF",
    ],
    misses: [
      'echo "API_KEY=[REDACTED]"',
      'echo "The log has [REDACTED] for a key" > notes',
      'echo "API_KEY=[REDACTED]" > README.md',
      'cat .env',
    ],
  },
];

function writesMarker(command: Command): boolean {
  const { name, redirections, words } = command;
  const paths = redirections.flatMap(({ operator, target }) => (operator.includes('>') ? target : []));
  if (name === 'tee') paths.push(...words.flatMap(({ text }) => (text.startsWith('-') ? [] : text)));
  if (!paths.some((path) => !path.startsWith('/dev/') && !isProseFile(path))) return false;
  const texts = name === 'tee' ? findInput(command) : [computeOutput(command) ?? ''];
  return texts.some((text) => findMarkerAsValue(text) !== null);
}
