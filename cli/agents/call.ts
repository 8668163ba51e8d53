/** A host is asked with the calls of the workflow runtime, whether a script or the loop makes them. */
export type { AgentCall, AgentReply } from '../workflow/call.ts'
