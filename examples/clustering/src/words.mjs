/** The words of a message that count when messages are compared. */
export const wordsOf = (text) => text.toLowerCase().match(/[a-z]{3,}/g) ?? []
