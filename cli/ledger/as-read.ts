/** What a sample keeps of how its metrics were read. All of it is absent in records of earlier versions. */
export interface AsRead {
  /** As the benchmark printed them: metrics that were converted to the unit of the baseline. Absent = none. */
  converted?: Record<string, { value: number; unit: string | null }>
  /** The metric is a time, and this is less than 0; absent = it is not, and in records of earlier versions. */
  below_zero?: true
  /** The word behind the number that a pattern found, null = none; absent without a pattern, and in records of earlier versions. */
  beside?: string | null
}
