import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { documentSchemas } from './document-schemas.ts';
import { type DocumentSchema, findYamlPlace, listCompletions } from './schema-completion.ts';
import type { EditorProblem, YamlEditorProps } from './yaml-editor-props.ts';

const LENGTH_MAX = 1_000_000;

/** CodeMirror behind a React component. Tab moves the focus on, as everywhere on the page. */
export default function CodeMirrorEditor(props: YamlEditorProps) {
  const { label, value, is_read_only = false, problems = [], document: kind } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const onChange = useRef(props.onChange);
  onChange.current = props.onChange;
  const first = useRef(value);

  useEffect(() => {
    if (host.current === null) return;
    // In a shadow root the editor uses constructed style sheets, which the content security policy allows. In the document it
    // would add `<style>` elements.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const parent = document.createElement('div');
    root.append(parent);
    const editor = new EditorView({
      root,
      parent,
      state: EditorState.create({
        doc: first.current.slice(0, LENGTH_MAX),
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          indentOnInput(),
          highlightActiveLine(),
          yaml(),
          syntaxHighlighting(HIGHLIGHT),
          autocompletion({ override: [completeFromSchemas(documentSchemas[kind])] }),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          EditorState.readOnly.of(is_read_only),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          THEME,
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onChange.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      editor.destroy();
      parent.remove();
      view.current = null;
    };
  }, [label, is_read_only, kind]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const present = editor.state.doc.toString();
    if (present !== value) editor.dispatch({ changes: { from: 0, to: present.length, insert: value } });
    first.current = value;
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (editor !== null)
      editor.dispatch(setDiagnostics(editor.state, locateProblems(editor.state, problems)));
  }, [problems]);

  return <div ref={host} className="editor" />;
}

/** Completes the keys of the documents, and those values that are a closed set, by the place of the cursor. */
function completeFromSchemas(roots: readonly DocumentSchema[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const before = context.state.doc.sliceString(0, context.pos);
    const place = findYamlPlace(before);
    if (place.typed === 0 && !context.explicit && !place.is_value) return null;
    const options = listCompletions(roots, place);
    return options.length === 0 ? null : { from: context.pos - place.typed, options, validFor: /^[\w.-]*$/ };
  };
}

function locateProblems({ doc }: EditorState, problems: readonly EditorProblem[]): Diagnostic[] {
  return problems.map(({ line, message }) => {
    const { from, to } = doc.line(Math.max(1, Math.min(doc.lines, line)));
    return { from, to, message, severity: 'error' };
  });
}

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: tags.comment, color: 'var(--ink-faint)', fontStyle: 'italic' },
  { tag: tags.string, color: 'var(--ink)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--change)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--raised)', fontSize: '0.86rem' },
  '.cm-content': { minHeight: '8rem', fontFamily: 'var(--mono)', caretColor: 'var(--ink)' },
  '.cm-scroller': { maxHeight: '36rem', overflow: 'auto' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--ink-faint)',
    border: 'none',
    fontFamily: 'var(--mono)',
  },
  '.cm-activeLine': { backgroundColor: 'var(--sunken)' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line-strong)',
  },
});
