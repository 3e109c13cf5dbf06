import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.tsx';
import { ErrorNote } from './error-note.tsx';

export interface ConfirmDialogProps {
  readonly title: string;
  /** What happens, in one sentence. */
  readonly children: ReactNode;
  /** The label of the button that does it: a verb with an object. */
  readonly action: string;
  readonly is_dangerous?: boolean;
  readonly is_busy?: boolean;
  readonly error?: unknown;
  readonly onConfirm: () => void;
  /** Another decision, left of the main one. */
  readonly alternative?: { readonly label: string; readonly onChoose: () => void };
  readonly onClose: () => void;
}

/**
 * Asks before something happens. It is the browser's own modal dialog: the focus stays inside, Escape closes it, and the page
 * behind it cannot be used.
 */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, action, is_dangerous = false, is_busy = false, error = null } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  function confirm(event: FormEvent) {
    event.preventDefault();
    props.onConfirm();
  }
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <form onSubmit={confirm}>
        <h2 id={titleId}>{title}</h2>
        <div className="dialog-body">{children}</div>
        <ErrorNote error={error} />
        <div className="dialog-buttons">
          <Button onClick={props.onClose}>Cancel</Button>
          {props.alternative === undefined ? null : (
            <Button look="danger" disabled={is_busy} onClick={props.alternative.onChoose}>
              {props.alternative.label}
            </Button>
          )}
          <Button type="submit" look={is_dangerous ? 'danger' : 'primary'} disabled={is_busy}>
            {is_busy ? 'Working …' : action}
          </Button>
        </div>
      </form>
    </dialog>
  );
}
