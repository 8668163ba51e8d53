/** The model, for training and for evaluation: the weights of a logistic regression, by word. */

export const score = (weights, text) => text.split(' ').reduce((sum, word) => sum + (weights[word] ?? 0), 0)

/** Probability that the label is `sea`. */
export const predict = (weights, text) => 1 / (1 + Math.exp(-score(weights, text)))

export const linesOf = (text) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
