/** A no of ours, as methods say it that have no results for that. Its sentence holds nothing of what a server said. */
export class Refused extends Error {
  constructor(sentence: string) {
    super(sentence);
    this.name = 'Refused';
  }
}
