/** Words that name nothing, so that they need no place in a session's quota. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any anything are as at away back be because been before below between ' +
    'both but by can could did do does done down during each either else even every few for from further get give go ' +
    'goes going got had has have having he her here hers him his how however i if in into is it its just kindly know ' +
    'least less let like lot made make makes many may maybe might mine more most much must my near need needs next no ' +
    'nor not now of off ok okay on once one only or other our ours out over own per please put rather said same say see ' +
    'shall she should since so some something soon still such sure take tell than thank thanks that the their theirs ' +
    'them then there these they this those though through to too under until up upon us use very want was way we well ' +
    'were what when where whether which while who whom whose why will with within without would yes yet you your yours'
  ).split(' '),
);
