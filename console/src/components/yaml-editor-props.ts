/** A problem in the text of an editor. */
export interface EditorProblem {
  /** Counted from 1. */
  readonly line: number;
  readonly message: string;
}

/** The policy document, a list of rules, or test cases. */
export type DocumentKind = 'policy' | 'rules' | 'cases';

export interface YamlEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly is_read_only?: boolean;
  /** Shown at their lines. */
  readonly problems?: readonly EditorProblem[];
  /** What the text is: completion offers its keys and values. */
  readonly document: DocumentKind;
}
