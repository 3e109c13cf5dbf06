import { type Command, Option } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatTable } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';

interface ListOptions {
  readonly tag?: string;
  readonly family?: string;
  readonly json?: true;
}

export function defineDetectors(command: Command, terminal: Terminal): void {
  const list = command
    .command('list')
    .summary('list the built-in detectors')
    .description('List the built-in detectors: ids for `detection.detectors`, tags and severities.')
    .option('--tag <tag>', 'only those with this tag or a descendant of it')
    .option('--family <name>', 'only those of this family, the `detector` of a violation')
    .addOption(buildJsonOption())
    .action((options: ListOptions) => runList(options, terminal));
  addExamples(list, [
    ['customshouse detectors list', ''],
    ['customshouse detectors list --tag secret.credential', ''],
  ]);
  const show = command
    .command('show')
    .summary('describe one detector, with examples')
    .description(
      'Describe one detector: what it finds and reports, with texts that match and texts that do not.',
    )
    .argument('<id>', 'the id, as a violation has it in `rule_id`')
    .addOption(new Option('--json', 'write JSON for a program'))
    .action((id: string, options: { json?: true }) => runShow(id, options, terminal));
  addExamples(show, [['customshouse detectors show github.token', '']]);
  addExamples(command, [
    ['customshouse detectors list --family api_key', ''],
    ['customshouse detectors show github.token', ''],
  ]);
}

async function runList({ tag, family, json }: ListOptions, terminal: Terminal): Promise<void> {
  const { buildDetectorCatalogue: catalogue } = await import(
    '../../../core/detect/registry/detector-catalogue.ts'
  );
  const { covers, isTag } = await import('../../../core/tags.ts');
  if (tag !== undefined && !isTag(tag))
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      `\`${tag}\` is not a tag. Tags are dotted lower-case words.`,
      {
        hint: 'Try `customshouse detectors list --tag personal`.',
      },
    );
  const found = catalogue().filter(
    (each) =>
      (family === undefined || each.family === family) &&
      (tag === undefined || each.tags.some((own) => covers(tag, own))),
  );
  if (json) {
    printJson(terminal, { detectors: found.map(({ hits: _hits, misses: _misses, ...each }) => each) });
    return;
  }
  if (found.length === 0) printLine(terminal, 'No built-in detector matches.');
  const rows = found.map(({ id, family: name, tags, severity }) => [id, name, severity, tags.join(', ')]);
  for (const line of rows.length === 0 ? [] : formatTable(['ID', 'FAMILY', 'SEVERITY', 'TAGS'], rows))
    printLine(terminal, line);
}

const EVIDENCE = {
  cue: 'a word next to the value',
  shape: 'the form of the value',
  proof: 'a prefix, a checksum or a parsed structure',
  command: 'the command that would run',
};

async function runShow(id: string, { json }: { json?: true }, terminal: Terminal): Promise<void> {
  const { buildDetectorCatalogue: catalogue } = await import(
    '../../../core/detect/registry/detector-catalogue.ts'
  );
  const { suggestName } = await import('../../../core/policy/compile/problems.ts');
  const all = catalogue();
  const found = all.find((each) => each.id === id);
  if (found === undefined) {
    const near = suggestName(
      id,
      all.map((each) => each.id),
    );
    throw new CommandFailure(EXIT.no, 'not_found', `There is no detector \`${id}\`${near || '.'}`, {
      hint: '`customshouse detectors list` shows all of them.',
    });
  }
  const { loadDetectorFigures } = await import('../detector-figures.ts');
  const figures = await loadDetectorFigures(id);
  if (json) {
    printJson(terminal, { ...found, figures });
    return;
  }
  const { family, tags, severity, evidence, description, hits, misses } = found;
  printLine(terminal, `${paintText(terminal, 'bold', id)}  ${severity}`);
  printLine(terminal, escapeControls(description));
  printLine(terminal);
  printLine(terminal, `family    ${family}`);
  printLine(terminal, `tags      ${tags.join(', ')}`);
  printLine(terminal, `evidence  ${EVIDENCE[evidence]}`);
  printLine(
    terminal,
    `labelled  found in ${figures.labelled_found} rows, and in ${figures.labelled_benign} benign rows`,
  );
  printLine(
    terminal,
    `ordinary  found in ${figures.ordinary_found} of ${figures.ordinary_files} files and ${figures.ordinary_commands} commands, ${figures.ordinary_stopped} of them stopped`,
  );
  for (const [title, texts] of [
    ['Finds', hits],
    ['Does not find', misses],
  ] as const) {
    printLine(terminal, `\n${title}`);
    for (const text of texts) printLine(terminal, `  ${escapeControls(text)}`);
  }
}
