import { extname } from 'node:path';
import { TextlintKernel } from '@textlint/kernel';
import markdown from '@textlint/textlint-plugin-markdown';
import { rules } from './rules.ts';
import { createPassagePlugin, extractPassages } from './typescript.ts';

/** One finding of a rule. */
export interface ProseRemark {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly kind: ProseKind;
  readonly message: string;
  readonly is_error: boolean;
}

export type ProseKind = 'markdown' | 'comment' | 'message';

const kernel = new TextlintKernel();

/** Lints one Markdown or TypeScript file; `path` is relative to the root. */
export async function lintProse(path: string, text: string): Promise<ProseRemark[]> {
  const isMarkdown = path.endsWith('.md');
  const passages = isMarkdown ? [] : extractPassages(path, text);
  const plugin = isMarkdown ? markdown.default : createPassagePlugin(passages);
  const { messages } = await kernel.lintText(text, {
    ext: extname(path),
    filePath: path,
    plugins: [{ pluginId: 'prose', plugin }],
    rules,
  });
  const kindAt = (offset: number): ProseKind =>
    isMarkdown ? 'markdown' : passages.findLast(({ start }) => start <= offset)!.kind;
  return messages.map(({ ruleId, message, range, loc, severity }) => ({
    path,
    line: loc.start.line,
    rule: ruleId,
    kind: kindAt(range[0]),
    message,
    is_error: severity === 2,
  }));
}
