import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import {
  type ApiError,
  callOperation,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from './client.ts';

interface OperationOptions {
  /** Reads again after this many milliseconds while the page is visible. */
  readonly refresh_ms?: number;
  /** Reads again also while the page is not visible. */
  readonly in_background?: boolean;
  readonly enabled?: boolean;
}

/** Reads an operation, and keeps its last answer on the page while a new one is under way. */
export function useOperation<Name extends OperationName>(
  name: Name,
  input: OperationInput<Name>,
  options: OperationOptions = {},
): UseQueryResult<OperationOutput<Name>, ApiError> {
  return useQuery<OperationOutput<Name>, ApiError>({
    queryKey: [name, input],
    queryFn: ({ signal }) => callOperation(name, input, signal),
    placeholderData: (before) => before,
    refetchInterval: options.refresh_ms ?? false,
    refetchIntervalInBackground: options.in_background ?? false,
    enabled: options.enabled ?? true,
    retry: (count, error) => error.status === 0 && count < 2,
  });
}

/** Calls an operation that changes something; afterwards, the answers of `changes` are read again. */
export function useOperationCall<Name extends OperationName>(name: Name, changes: readonly OperationName[]) {
  const client = useQueryClient();
  return useMutation<OperationOutput<Name>, ApiError, OperationInput<Name>>({
    mutationFn: (input) => callOperation(name, input),
    onSettled: async () => {
      await Promise.all(changes.map((changed) => client.invalidateQueries({ queryKey: [changed] })));
    },
  });
}
