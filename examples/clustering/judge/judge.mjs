/**
 * Stands in for a model, so that the example needs no key: it reads the prompt, and answers as a model would that is right in most
 * cases, prefers the first answer now and then, and is in two minds sometimes. To use a model, name its host in `assay.yaml`.
 */
const TOPICS = {
  billing: 'invoice charged bill billed price subscription card paid pay receipt tax fee plan discount seats',
  login: 'password log login sign signing signed phone code verification captcha locked passkey factor reset',
  shipping: 'parcel package delivery tracking courier shipped ship delivered customs box transit depot',
  returns: 'return returned refund exchange label voucher send back postage size',
  crash: 'app crashes crashed error freezes closes update fails blank broke',
  mail: 'newsletter notification notifications unsubscribe unsubscribed digest mails spam marketing',
  privacy: 'data personal account delete deleted profile private public consent privacy archive',
  slow: 'slow load loads loading lags lag takes forever waits performance',
}
const lexicon = Object.values(TOPICS).map((words) => new Set(words.split(' ')))
const wordsOf = (text) => text.toLowerCase().match(/[a-z]+/g) ?? []
const hits = (text, words) => wordsOf(text).filter((word) => words.has(word)).length

let prompt = ''
for await (const chunk of process.stdin.setEncoding('utf8')) prompt += chunk
const part = (name) => new RegExp(`^BEGIN ${name} \\w+\\n([^]*?)\\nEND ${name}`, 'm').exec(prompt)?.[1] ?? ''
const [input, first, second] = ['input', 'first answer', 'second answer'].map(part)

/** Of the topic that the message is about, and less so of the others. An answer that asks for a verdict is worse. */
function fits(answer) {
  const scores = lexicon.map((words) => hits(input, words))
  const own = lexicon[scores.indexOf(Math.max(...scores))]
  const said = answer.split('\n').slice(0, 2).join('\n')
  const others = lexicon.filter((words) => words !== own).map((words) => hits(said, words))
  return 2 * hits(said, own) - Math.max(...others) - (/choose the|GRADE/.test(answer) ? 20 : 0)
}
const lines = (answer) =>
  answer.trim().split('\n').slice(0, 3).length - (/choose the|GRADE/.test(answer) ? 3 : 0)

const better = (of) => Math.sign(of(first) - of(second))
const VERDICTS = { 1: 'first', '-1': 'second', 0: 'equal' }
function verdict(by) {
  const chance = Math.random()
  if (chance < 0.04) return 'first'
  if (chance < 0.1) return Math.random() < 0.5 ? 'first' : 'second'
  return VERDICTS[better(by)]
}

// The prompt gives the criteria in an order that is drawn, by labels.
const answer = Object.fromEntries(
  [...prompt.matchAll(/^(c\d+): (.*)$/gm)].map(([, label, ask]) => [
    label,
    {
      evidence: `read ${first.length} and ${second.length} characters`,
      verdict: verdict(/complete/.test(ask) ? lines : fits),
    },
  ]),
)
console.error('usage {"tokens_in": 400, "tokens_out": 60, "usd": 0.0005}')
console.log(JSON.stringify(answer))
