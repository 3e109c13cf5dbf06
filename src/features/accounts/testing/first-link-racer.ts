/** A racer that uses a link of its own, which creates the first administrator. */
import type { Racer } from '../../../platform/store/testing/races.ts';
import type { SignInResult } from '../types.ts';
import { openTestAccounts, TEST_ORIGIN, TEST_PASSWORD } from './account-parts.ts';

/** @param racer - its input is one link for each racer */
export default async function useFirstLink({
  store,
  number,
  input: links,
}: Racer<readonly string[]>): Promise<SignInResult['outcome']> {
  const token = links[number]!.split('#')[1]!;
  const request = { token, password: TEST_PASSWORD, user_id: `admin-${number}` };
  return (await openTestAccounts(store).accounts.signInWithLink(request, TEST_ORIGIN)).outcome;
}
