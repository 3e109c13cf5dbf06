import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../../api/client.ts';
import { CallDialog } from '../../components/call-dialog.tsx';
import { revealHidden } from '../../components/safe-text.tsx';
import { useWeakerConfirmation, WhyField } from '../../components/weaker-confirmation.tsx';

export interface SavedVersion {
  readonly version: number;
  readonly warnings: readonly string[];
}

/** A template or skill to install into the policy document, or to remove from it. */
export interface PartChange {
  readonly noun: 'template' | 'skill';
  readonly name: string;
  readonly verb: 'Install' | 'Remove';
  readonly call: Pick<
    UseMutationResult<SavedVersion, ApiError, { name: string; note?: string; confirm_weaker?: boolean }>,
    'mutate' | 'isPending' | 'error'
  >;
}

interface PartDialogProps {
  readonly change: PartChange;
  readonly onDone: (saved: SavedVersion) => void;
  readonly onClose: () => void;
}

/** Confirms a change of the policy document, and makes it. */
export function PartDialog({ change: { noun, name, verb, call }, onDone, onClose }: PartDialogProps) {
  const weaker = useWeakerConfirmation(call.error);
  const [note, setNote] = useState('');
  return (
    <CallDialog
      title={`${verb} ${revealHidden(name)}`}
      action={`${verb} ${noun}`}
      onClose={onClose}
      call={call}
      input={{ name, ...(note === '' ? {} : { note }), ...weaker.input }}
      onDone={(saved) => onDone(saved)}
    >
      <p>
        The {noun} is{' '}
        {verb === 'Install' ? 'added to the end of the policy document' : 'removed from the policy document'}.
        The result becomes the next version, which all workers use at once.
      </p>
      {weaker.field}
      {weaker.is_asked ? <WhyField value={note} is_required onChange={setNote} /> : null}
    </CallDialog>
  );
}
