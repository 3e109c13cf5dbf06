import { lazy, Suspense } from 'react';
import type { YamlEditorProps } from './yaml-editor-props.ts';

const CodeMirrorEditor = lazy(() => import('./code-mirror-editor.tsx'));

/** An editor for YAML. Its code is loaded when the first one appears. */
export function YamlEditor(props: YamlEditorProps) {
  return (
    <Suspense fallback={<p className="muted">Loading the editor …</p>}>
      <CodeMirrorEditor {...props} />
    </Suspense>
  );
}
