/**
 * Gives recorded answers to a generator of questions, in order, and answers the question or the result that it is at then: a
 * process that was killed continues from the record. `check` throws when an answer belongs to a different question; an answer
 * after the end is a bug of the caller, too.
 */
export function replay<Question, Result, Answer>(
  run: Generator<Question, Result, Answer>,
  answers: readonly Answer[],
  check: (asked: Question, answer: Answer) => void,
): Question | Result {
  let step = run.next()
  for (const answer of answers) {
    if (step.done === true) throw new Error('an answer came after the end')
    check(step.value, answer)
    step = run.next(answer)
  }
  return step.value
}
