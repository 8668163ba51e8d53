/**
 * JSON as it stands on a command line: `%27` is an apostrophe, `%25` a percent sign, and so on for any bytes of UTF-8. What
 * no such sequence is stands for itself, so that `5 % less` may be written as it is.
 */
export const fromCommandLine = (text: string): string =>
  text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (bytes) => {
    try {
      return decodeURIComponent(bytes)
    } catch {
      return bytes
    }
  })
