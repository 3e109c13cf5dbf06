import type { UseMutationResult } from '@tanstack/react-query';
import type { ApiError } from '../api/client.ts';
import { ConfirmDialog, type ConfirmDialogProps } from './confirm-dialog.tsx';

/** An operation call, as `useOperationCall` returns it. */
export type DialogCall<Input, Output> = Pick<
  UseMutationResult<Output, ApiError, Input>,
  'error' | 'isPending' | 'mutate'
>;

interface CallDialogProps<Input, Output> extends Omit<ConfirmDialogProps, 'is_busy' | 'error' | 'onConfirm'> {
  readonly call: DialogCall<Input, Output>;
  readonly input: Input;
  /** Receives the answer before the dialog closes. */
  readonly onDone?: (answer: Output) => void;
}

/** Asks before an operation is called, shows why it was refused, and closes once it is done. */
export function CallDialog<Input, Output>({
  call,
  input,
  onDone,
  ...dialog
}: CallDialogProps<Input, Output>) {
  function confirm() {
    call.mutate(input, {
      onSuccess: (answer) => {
        onDone?.(answer);
        dialog.onClose();
      },
    });
  }
  return <ConfirmDialog {...dialog} is_busy={call.isPending} error={call.error} onConfirm={confirm} />;
}
