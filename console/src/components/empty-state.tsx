import type { ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';
import { nameProgram } from './prose.tsx';

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** The command that brings the first row. */
  readonly command?: string;
}

/** Stands where rows would be: says why there are none, and the exact command that changes it. */
export function EmptyState({ title, children, command }: EmptyStateProps) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children === undefined ? null : <p>{children}</p>}
      {command === undefined ? null : <CodeBlock text={nameProgram(command)} label="Command" />}
    </div>
  );
}
